import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { Db } from '../../../db/open.ts';
import { FORBIDDEN, OVERLOADED } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { idOf } from '../../kernel/wire/fields.ts';
import { readPicture, type Picture } from './profile-picture.ts';
import { EMPLOYEE_ERASED } from './errors.ts';
import { employeeUpdated } from './events.ts';
import { getEmployee, lockEmployee, toEmployee } from './queries.ts';
import { recordEmployeeUpdate } from './record-change.ts';
import { Employee } from './schemas.ts';

export const updatePicture = member('people')
  .meta(
    rest('PATCH /employee/update-picture/{_id}/', {
      section: 'Employees',
      summary: 'Set the profile picture',
      description:
        'The employee themself or an admin. `profilePicture` is a PNG, JPEG, WebP or GIF in base64, with or without a `data:` prefix, of at most 16,384 pixels on each side and 50 megapixels (25 with 16 bits a channel and transparency); its content decides what it is. The body has at most 4 MiB, so the file about 3. It is kept as WebP of at most 512x512 pixels, without metadata, and of an animation the first frame. Pictures are decoded one by one, and companies take turns: with too many on their way the answer is 503, and a moment later it works. `null` removes the picture; without the field nothing changes. The answer carries the URL from which it is served, to anybody who knows that URL; it changes with each picture.',
      errors: [FORBIDDEN, OVERLOADED, EMPLOYEE_ERASED],
      changes: [employeeUpdated],
      bodyBytesMax: 4 * 1024 * 1024,
      example: {
        _id: 42,
        profilePicture:
          'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    }),
  )
  .input(
    z.object({
      _id: idOf('colleague'),
      profilePicture: z.string().nullable().optional().meta({ contentEncoding: 'base64' }),
    }),
  )
  .output(Employee)
  .mutation(async ({ ctx, input }) => {
    const { db, caller, services } = ctx;
    const { companyId } = caller;
    // Checked before the transaction, so that no picture is decoded for a caller without the right.
    const employee = await getEmployee(services.database.forCompany(companyId).db, companyId, input._id);
    if (!caller.isAdmin && caller.employeeId !== input._id)
      throw FORBIDDEN({ detail: "Only an admin may change somebody else's picture." });
    if (input.profilePicture === undefined) return toEmployee(employee, caller, services.settings);
    const picture = input.profilePicture === null ? null : await readPicture(input.profilePicture, companyId);
    const now = services.clock.now();

    const before = await lockEmployee(db, companyId, input._id);
    if (before.erased_at !== null) throw EMPLOYEE_ERASED();
    const { picture_id: replacedId } = before;
    const pictureId = picture && (await insertPicture(db, companyId, picture, now));
    await db
      .updateTable('employees')
      .set({ picture_id: pictureId, updated_at: now })
      .where('company_id', '=', companyId)
      .where('employee_id', '=', input._id)
      .execute();
    if (replacedId !== null)
      await db
        .deleteFrom('pictures')
        .where('company_id', '=', companyId)
        .where('picture_id', '=', replacedId)
        .execute();
    const after = await getEmployee(db, companyId, input._id);
    const by = { actorId: caller.employeeId, at: now, settings: services.settings };
    recordEmployeeUpdate(db, { before, after }, by);
    return toEmployee(after, caller, services.settings);
  });

async function insertPicture(db: Db, companyId: number, { content, contentType }: Picture, now: Date): Promise<string> {
  const pictureId = randomUUID();
  await db
    .insertInto('pictures')
    .values({ company_id: companyId, picture_id: pictureId, content_type: contentType, content, created_at: now })
    .execute();
  return pictureId;
}
