import { FORBIDDEN } from '../../errors/errors.ts';
import { rest } from '../../kernel/operation.ts';
import { member } from '../../kernel/procedures.ts';
import { ownId } from '../../kernel/wire/fields.ts';
import { listPreferences, Preferences } from './preferences.ts';
import { requireSelf } from './queries.ts';

export const updatePreferences = member('notifications')
  .meta(
    rest('PUT /api/notification-preferences/{employee_id}/', {
      section: 'Additions',
      summary: 'Say how one wants to be told',
      description: 'Any of the categories; those left out stay as they are. Holds for what happens from now on.',
      errors: [FORBIDDEN],
      example: { message: { inApp: true, email: false } },
    }),
  )
  .input(Preferences.partial().extend({ employee_id: ownId() }).meta({ id: 'NotificationPreferencesChange' }))
  .output(Preferences)
  .mutation(async ({ ctx, input }) => {
    const { employee_id: employeeId, ...given } = input;
    const recipient = await requireSelf(ctx.db, ctx.caller, employeeId);
    for (const [category, channels] of Object.entries(given)) {
      if (!channels) continue;
      const row = { in_app: channels.inApp, email: channels.email, updated_at: ctx.services.clock.now() };
      await ctx.db
        .insertInto('notification_preferences')
        .values({ company_id: recipient.companyId, employee_id: employeeId, category, ...row })
        .onConflict((conflict) => conflict.columns(['company_id', 'employee_id', 'category']).doUpdateSet(row))
        .execute();
    }
    return listPreferences(ctx.db, recipient);
  });
