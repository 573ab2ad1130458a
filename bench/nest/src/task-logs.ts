import { BadRequestException, Body, Controller, HttpCode, Injectable, Post } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { IsISO8601, IsInt, IsOptional, IsString } from 'class-validator';
import { DataSource, EntityManager, IsNull, LessThan, MoreThan } from 'typeorm';
import { companyId } from './caller.js';
import { Project, Task } from './entities.js';
import { CompanyDay, TaskLog, WorkDay, WorkTotal } from './time-entities.js';

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
const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

@Injectable()
export class TaskLogsService {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** The log, and what is kept of it: the days and totals of the person, the company's days, the project's hours. */
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
      for (const day of new Set([dayOf(log.startTime), dayOf(log.endTime)]))
        await this.countDay(manager, log.employeeId, day);
      await manager.increment(Project, { companyId, projectId: task.projectId }, 'loggedSeconds', durationSeconds);
      return toAnswer(log, durationSeconds);
    });
  }

  private async countDay(manager: EntityManager, employeeId: number, day: string): Promise<void> {
    const who = { companyId, employeeId };
    await manager
      .createQueryBuilder()
      .insert()
      .into(WorkTotal)
      .values({ ...who, loggedSeconds: 0, workingSeconds: 0 })
      .orIgnore()
      .execute();
    // One after the other whoever counts the days of one person.
    await manager.findOne(WorkTotal, { where: who, lock: { mode: 'pessimistic_write' } });
    const start = new Date(`${day}T00:00:00Z`);
    const end = new Date(start.getTime() + 24 * 3600 * 1000);
    const logs = await manager.find(TaskLog, {
      where: { ...who, startTime: LessThan(end), endTime: MoreThan(start) },
      order: { startTime: 'ASC' },
    });
    let [workingSeconds, loggedSeconds, coveredUntil] = [0, 0, start];
    for (const { startTime, endTime } of logs) {
      const from = startTime > start ? startTime : start;
      const to = endTime < end ? endTime : end;
      loggedSeconds += secondsOf(from, to);
      if (to > coveredUntil) workingSeconds += secondsOf(from > coveredUntil ? from : coveredUntil, to);
      if (to > coveredUntil) coveredUntil = to;
    }
    const before = await manager.findOneBy(WorkDay, { ...who, day });
    await manager.upsert(WorkDay, { ...who, day, workingSeconds, loggedSeconds }, ['companyId', 'employeeId', 'day']);
    const logged = loggedSeconds - (before?.loggedSeconds ?? 0);
    const working = workingSeconds - (before?.workingSeconds ?? 0);
    await manager.increment(WorkTotal, who, 'loggedSeconds', logged);
    await manager.increment(WorkTotal, who, 'workingSeconds', working);
    await manager
      .createQueryBuilder()
      .insert()
      .into(CompanyDay)
      .values({ companyId, day, loggedSeconds: 0 })
      .orIgnore()
      .execute();
    await manager.increment(CompanyDay, { companyId, day }, 'loggedSeconds', logged);
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
