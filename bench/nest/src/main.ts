import 'reflect-metadata';
import { Module, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CommentsController, CommentsService } from './comments.js';
import { Comment, CommentLike, CommentView } from './comment-entities.js';
import { Employee, Notification, Project, Task } from './entities.js';
import { NotificationsController, NotificationsService } from './notifications.js';
import { TaskLogsController, TaskLogsService } from './task-logs.js';
import { TaskLog } from './time-entities.js';

const entities = [Comment, CommentLike, CommentView, Employee, Notification, Project, Task];

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: process.env['DATABASE_URL']!,
      entities: [...entities, TaskLog],
      synchronize: false,
      parseInt8: true,
      extra: { max: 10 },
    }),
    TypeOrmModule.forFeature([Comment, Notification]),
  ],
  controllers: [CommentsController, NotificationsController, TaskLogsController],
  providers: [CommentsService, NotificationsService, TaskLogsService],
})
class AppModule {}

const app = await NestFactory.create<NestFastifyApplication>(
  AppModule,
  new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } }),
  { logger: ['error'] },
);
app.useGlobalPipes(new ValidationPipe({ transform: true }));
await app.listen(0, '127.0.0.1');
process.send!({ url: await app.getUrl() });
process.once('disconnect', () => process.exit());
