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

@Entity('work_days')
export class WorkDay {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @PrimaryColumn({ type: 'date' })
  day: string;

  @Column({ name: 'working_seconds', type: 'integer' })
  workingSeconds: number;

  @Column({ name: 'logged_seconds', type: 'bigint' })
  loggedSeconds: number;
}

@Entity('work_totals')
export class WorkTotal {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @Column({ name: 'logged_seconds', type: 'bigint' })
  loggedSeconds: number;

  @Column({ name: 'working_seconds', type: 'bigint' })
  workingSeconds: number;
}

@Entity('company_days')
export class CompanyDay {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ type: 'date' })
  day: string;

  @Column({ name: 'logged_seconds', type: 'bigint' })
  loggedSeconds: number;
}
