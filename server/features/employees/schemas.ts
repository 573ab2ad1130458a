import { z } from 'zod';
import { decimal, idOf, name, text, visible } from '../../kernel/wire/fields.ts';
import { day, moment } from '../../kernel/wire/moments.ts';

/** A person as an employee of one company. */
export const Employee = z
  .object({
    _id: idOf('employee'),
    invitationStatus: z
      .enum(['pending', 'accepted'])
      .meta({ description: 'Whether the owner of the address has joined an account to this employee' }),
    first_name: z.string(),
    last_name: z.string(),
    name: z.string().meta({ description: '"first last" unless set by itself' }),
    email: z.string(),
    phone: z.string().nullable(),
    designation: z.string().nullable().meta({ description: 'Job title' }),
    companyId: idOf('company'),
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

/** What agents are not shown of people. */
export const besideThePerson = [
  'first_name',
  'last_name',
  'phone',
  'companyId',
  'salary',
  'is_active',
  'isDeleted',
  'date_of_birth',
  'date_of_joining',
  'gender',
  'country_code',
  'profilePicture',
  'createdAt',
  'updatedAt',
  'deletedEmployees',
] as const;

/** Optional text: one of which nothing is visible counts as none. */
const optional = (kind: typeof text, max: number) =>
  kind({ min: 0, max })
    .nullable()
    .transform((value) => (value !== null && visible.test(value) ? value : null));

/** The fields of an employee that callers may write, with their rules. */
export const fields = {
  first_name: name({ max: 100 }),
  last_name: name({ max: 100 }),
  name: optional(name, 200).meta({ description: 'Full name; null brings back "first last"' }),
  phone: optional(text, 40).meta({ examples: ['+44 20 7946 0958'] }),
  designation: optional(name, 200).meta({ description: 'Job title', examples: ['Engineer'] }),
  salary: decimal({ max: 999_999_999_999.99 })
    .nullable()
    .meta({ examples: [52_000] }),
  date_of_birth: day.nullable(),
  date_of_joining: day.nullable(),
  gender: optional(text, 50),
  country_code: optional(text, 10).meta({ examples: ['GB'] }),
};
