import { BadRequestException, Body, Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { IsISO8601, IsInt, IsOptional, IsString } from 'class-validator';
import { DataSource, IsNull } from 'typeorm';
import { companyId } from './caller.js';
import { Task } from './entities.js';
import { TaskLog } from './time-entities.js';

export class CreateTaskLogDto {
  @IsInt()
  task_id: number;

  @IsInt()
  employee_id: number;

  @IsISO8601()
  start_time: string;

  @IsISO8601()
  end_time: string;

  @IsOptional()
  @IsString()
  description?: string;
}

const secondsOf = (from: Date, to: Date): number => Math.round((to.getTime() - from.getTime()) / 1000);

@Injectable()
export class TaskLogsService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The log; triggers derive days and totals from it, as for every side. */
  async create(dto: CreateTaskLogDto) {
    return this.dataSource.transaction(async (manager) => {
      const task = await manager.findOne(Task, {
        where: { companyId, taskId: dto.task_id, deletedAt: IsNull(), project: { deletedAt: IsNull() } },
        relations: { project: true },
      });
      if (!task) throw new BadRequestException('task_id names nothing in your company');
      const now = new Date();
      const log = await manager.save(
        manager.create(TaskLog, {
          companyId,
          taskId: task.taskId,
          employeeId: dto.employee_id,
          projectId: task.projectId,
          startTime: new Date(dto.start_time),
          endTime: new Date(dto.end_time),
          description: dto.description ?? null,
          manualAdd: true,
          createdAt: now,
          updatedAt: now,
        }),
      );
      const durationSeconds = secondsOf(log.startTime, log.endTime);
      return toAnswer(log, durationSeconds);
    });
  }
}

function toAnswer(log: TaskLog, durationSeconds: number) {
  return {
    _id: log.taskLogId,
    taskId: log.taskId,
    userId: log.employeeId,
    projectId: log.projectId,
    startTime: log.startTime,
    endTime: log.endTime,
    durationSeconds,
    description: log.description,
    manualAdd: log.manualAdd,
    createdAt: log.createdAt,
    updatedAt: log.updatedAt,
  };
}

@Controller('tasklog')
export class TaskLogsController {
  constructor(private readonly taskLogs: TaskLogsService) {}

  @Post('create')
  @HttpCode(200)
  async create(@Body() dto: CreateTaskLogDto) {
    return this.taskLogs.create(dto);
  }
}
