import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn, PrimaryGeneratedColumn, type Relation } from 'typeorm';

/* The tables of the service as entities. Identifiers are bigint, and belong to a company. */

@Entity('employees')
export class Employee {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  email: string;

  @Column({ name: 'picture_id', type: 'uuid', nullable: true })
  pictureId: string | null;
}

@Entity('projects')
export class Project {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'project_id', type: 'bigint' })
  projectId: number;

  @Column({ name: 'logged_seconds', type: 'bigint' })
  loggedSeconds: number;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt: Date | null;
}

@Entity('tasks')
export class Task {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'task_id', type: 'bigint' })
  taskId: number;

  @Column({ name: 'project_id', type: 'bigint' })
  projectId: number;

  @Column({ name: 'deleted_at', type: 'timestamptz', nullable: true })
  deletedAt: Date | null;

  @ManyToOne(() => Project)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'project_id', referencedColumnName: 'projectId' },
  ])
  project: Relation<Project>;
}

@Entity('notifications')
export class Notification {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryGeneratedColumn({ name: 'notification_id', type: 'bigint' })
  notificationId: number;

  @Column({ name: 'recipient_id', type: 'bigint' })
  recipientId: number;

  @Column({ name: 'app_type', type: 'text' })
  appType: string;

  @Column({ type: 'text' })
  category: string;

  @Column({ type: 'text' })
  priority: string;

  @Column({ type: 'text' })
  title: string;

  @Column({ type: 'text' })
  message: string;

  @Column({ type: 'text', nullable: true })
  link: string | null;

  @Column({ name: 'task_id', type: 'bigint', nullable: true })
  taskId: number | null;

  @Column({ name: 'comment_id', type: 'bigint', nullable: true })
  commentId: number | null;

  @Column({ name: 'project_id', type: 'bigint', nullable: true })
  projectId: number | null;

  @Column({ name: 'is_mention', type: 'boolean' })
  isMention: boolean;

  @Column({ name: 'is_read', type: 'boolean' })
  isRead: boolean;

  @Column({ name: 'is_starred', type: 'boolean' })
  isStarred: boolean;

  @Column({ name: 'is_later', type: 'boolean' })
  isLater: boolean;

  @Column({ name: 'is_archived', type: 'boolean' })
  isArchived: boolean;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @ManyToOne(() => Employee, { nullable: true })
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'actor_id', referencedColumnName: 'employeeId' },
  ])
  actor: Relation<Employee> | null;
}
