import { Controller, DefaultValuePipe, Get, Injectable, Param, ParseIntPipe, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { companyId } from './caller.js';
import { Notification } from './entities.js';

const pageSize = 10;

@Injectable()
export class NotificationsService {
  constructor(@InjectRepository(Notification) private readonly notifications: Repository<Notification>) {}

  async findPage(recipientId: number, page: number) {
    const [rows, total] = await this.notifications.findAndCount({
      where: { companyId, recipientId },
      relations: { actor: true },
      order: { notificationId: 'DESC' },
      take: pageSize,
      skip: (page - 1) * pageSize,
    });
    return { results: rows.map(toAnswer), page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
  }
}

function toAnswer(one: Notification) {
  return {
    _id: one.notificationId,
    recipient_id: one.recipientId,
    app_type: one.appType,
    category: one.category,
    priorty: one.priority,
    title: one.title,
    message: one.message,
    link: one.link,
    actor: one.actor && { _id: one.actor.employeeId, name: one.actor.name },
    taskId: one.taskId,
    commentId: one.commentId,
    projectId: one.projectId,
    isMention: one.isMention,
    read: one.isRead,
    starred: one.isStarred,
    later: one.isLater,
    isArchive: one.isArchived,
    createdAt: one.createdAt,
  };
}

@Controller('notifications')
export class NotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  @Get('recipient/:recipientId')
  async list(
    @Param('recipientId', ParseIntPipe) recipientId: number,
    @Query('page', new DefaultValuePipe(1), ParseIntPipe) page: number,
  ) {
    return this.notifications.findPage(recipientId, page);
  }
}
