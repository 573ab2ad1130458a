import { z } from 'zod';
import { day, id, moment } from '../../kernel/wire.ts';

/** A person's place in one company. */
export const Employee = z
  .object({
    _id: id,
    first_name: z.string(),
    last_name: z.string(),
    name: z.string().meta({ description: '"first last" unless set by itself' }),
    email: z.string(),
    phone: z.string().nullable(),
    designation: z.string().nullable().meta({ description: 'Job title' }),
    companyId: id,
    salary: z
      .number()
      .nullable()
      .meta({ description: 'Visible to admins and to the employee themself; null to others' }),
    isAdmin: z.boolean(),
    isTeamLeader: z.boolean(),
    is_active: z.boolean().meta({ description: 'Always equal to isActive' }),
    isActive: z.boolean(),
    isDeleted: z.boolean(),
    date_of_birth: day.nullable(),
    date_of_joining: day.nullable(),
    gender: z.string().nullable(),
    country_code: z.string().nullable(),
    profilePicture: z.string().nullable().meta({ description: 'URL of the picture' }),
    createdAt: moment,
    updatedAt: moment,
  })
  .meta({ id: 'Employee' });
