import { Controller, Get, Injectable, Param, ParseIntPipe } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { companyId, viewerId } from './caller.js';
import { Comment } from './comment-entities.js';

type Answer = ReturnType<typeof toAnswer>;

@Injectable()
export class CommentsService {
  constructor(@InjectRepository(Comment) private readonly comments: Repository<Comment>) {}

  async findByTask(taskId: number): Promise<Answer[]> {
    const comments = await this.comments.find({
      where: { companyId, taskId },
      relations: { sender: true, likes: { employee: true }, views: { employee: true } },
      order: { commentId: 'ASC' },
    });
    const answers = comments.map(toAnswer);
    const byId = new Map(answers.map((answer) => [answer._id, answer]));
    return answers.filter((answer) => {
      const parent = answer.reply_to === null ? undefined : byId.get(answer.reply_to);
      parent?.replies.push(answer);
      return !parent;
    });
  }
}

function toAnswer(comment: Comment) {
  const { sender, likes, views } = comment;
  return {
    _id: comment.commentId,
    taskId: comment.taskId,
    sender: { _id: sender.employeeId, name: sender.name, profilePicture: sender.pictureId },
    ClientSender: comment.clientSender,
    message: comment.message,
    mentionedEmails: comment.mentionedEmails,
    mentions: [],
    reply_to: comment.replyTo,
    image: comment.image,
    isEdited: comment.isEdited,
    isDeleted: comment.isDeleted,
    likes: likes.map(({ employee }) => ({ employee_id: employee.employeeId, name: employee.name })),
    likeCount: likes.length,
    likedByMe: likes.some(({ employeeId }) => employeeId === viewerId),
    seenBy: views.map(({ employee, seenAt }) => ({ employee_id: employee.employeeId, name: employee.name, seenAt })),
    deepLink: `http://127.0.0.1/tasks/${comment.taskId}?comment=${comment.commentId}`,
    createdAt: comment.createdAt,
    editedAt: comment.editedAt,
    replies: [] as object[],
  };
}

@Controller('api/tasks/chat')
export class CommentsController {
  constructor(private readonly comments: CommentsService) {}

  @Get(':taskId')
  async list(@Param('taskId', ParseIntPipe) taskId: number): Promise<{ comments: Answer[] }> {
    return { comments: await this.comments.findByTask(taskId) };
  }
}
