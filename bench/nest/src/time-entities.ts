import { Column, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('task_logs')
export class TaskLog {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryGeneratedColumn('identity', { name: 'task_log_id', type: 'bigint', generatedIdentity: 'ALWAYS' })
  taskLogId: number;

  @Column({ name: 'task_id', type: 'bigint' })
  taskId: number;

  @Column({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @Column({ name: 'project_id', type: 'bigint' })
  projectId: number;

  @Column({ name: 'start_time', type: 'timestamptz' })
  startTime: Date;

  @Column({ name: 'end_time', type: 'timestamptz' })
  endTime: Date;

  @Column({ type: 'text', nullable: true })
  description: string | null;

  @Column({ name: 'manual_add', type: 'boolean' })
  manualAdd: boolean;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;
}
