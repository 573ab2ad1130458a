import {
  Column,
  Entity,
  JoinColumn,
  ManyToOne,
  OneToMany,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  type Relation,
} from 'typeorm';
import { Employee } from './entities.js';

@Entity('comments')
export class Comment {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryGeneratedColumn({ name: 'comment_id', type: 'bigint' })
  commentId: number;

  @Column({ name: 'task_id', type: 'bigint' })
  taskId: number;

  @Column({ name: 'client_sender', type: 'bigint', nullable: true })
  clientSender: number | null;

  @Column({ type: 'text', nullable: true })
  message: string | null;

  @Column({ name: 'mentioned_emails', type: 'text', array: true })
  mentionedEmails: string[];

  @Column({ name: 'reply_to', type: 'bigint', nullable: true })
  replyTo: number | null;

  @Column({ type: 'text', nullable: true })
  image: string | null;

  @Column({ name: 'is_edited', type: 'boolean' })
  isEdited: boolean;

  @Column({ name: 'is_deleted', type: 'boolean' })
  isDeleted: boolean;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'edited_at', type: 'timestamptz', nullable: true })
  editedAt: Date | null;

  @ManyToOne(() => Employee)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'sender_id', referencedColumnName: 'employeeId' },
  ])
  sender: Relation<Employee>;

  @OneToMany(() => CommentLike, (like) => like.comment)
  likes: Relation<CommentLike[]>;

  @OneToMany(() => CommentView, (view) => view.comment)
  views: Relation<CommentView[]>;
}

@Entity('comment_likes')
export class CommentLike {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'comment_id', type: 'bigint' })
  commentId: number;

  @PrimaryColumn({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @ManyToOne(() => Comment, (comment) => comment.likes)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'comment_id', referencedColumnName: 'commentId' },
  ])
  comment: Relation<Comment>;

  @ManyToOne(() => Employee)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'employee_id', referencedColumnName: 'employeeId' },
  ])
  employee: Relation<Employee>;
}

@Entity('comment_views')
export class CommentView {
  @PrimaryColumn({ name: 'company_id', type: 'bigint' })
  companyId: number;

  @PrimaryColumn({ name: 'comment_id', type: 'bigint' })
  commentId: number;

  @PrimaryColumn({ name: 'employee_id', type: 'bigint' })
  employeeId: number;

  @Column({ name: 'seen_at', type: 'timestamptz' })
  seenAt: Date;

  @ManyToOne(() => Comment, (comment) => comment.views)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'comment_id', referencedColumnName: 'commentId' },
  ])
  comment: Relation<Comment>;

  @ManyToOne(() => Employee)
  @JoinColumn([
    { name: 'company_id', referencedColumnName: 'companyId' },
    { name: 'employee_id', referencedColumnName: 'employeeId' },
  ])
  employee: Relation<Employee>;
}
