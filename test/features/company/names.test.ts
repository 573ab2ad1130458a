import { describe, expect, test } from 'vitest';
import { errorOf } from '../../support/actor.ts';
import { startService } from '../../support/service.ts';

const service = await startService();
const { anonymous, mailbox } = service;
const admin = await service.registerCompany({ name: 'Engines' });

const honest = [
  "St. John's",
  'Acme.io Ltd',
  'A/B Testing GmbH',
  'Dr. Müller-Lüdenscheidt & Söhne',
  'Müller u. Co. KG',
  '株式会社アナリティカル',
  'شركة المحركات',
  'मशीन लर्निंग',
  'ООО «Ромашка»',
  "O'Neil, Jr.",
  'Awww. So nice',
  '👩‍🚀 Rockets',
];
const links = [
  'Win at http://evil.example',
  'HTTPS:evil.example',
  'www.evil.example',
  'See (www.evil.example)',
  '//evil.example',
  'evil.com/win now',
  'ftp://evil.example',
  'ｈｔｔｐ：／／evil.example',
  'evil。com／win',
];
const invisible = ['\u200B', '\u2060 \uFEFF', '\u200F\u200E'];
const hidden = ['Ada\u202EevilA', 'Ada\nBcc: x@example.com', 'Ada\u0007', 'Ada\u2066x\u2069', 'a\u2028b'];

const sent = async (values: Record<string, unknown>) => {
  const email = `p${Math.random().toString(36).slice(2)}@example.com`;
  await anonymous.post('/get-register-otp/', { email });
  await service.drain();
  return anonymous.post('/api/create-company-and-employee/', {
    company_name: 'Looms',
    email,
    otp: mailbox.lastCode(email),
    first_name: 'Ada',
    last_name: 'Lovelace',
    ...values,
  });
};
const employee = (values: Record<string, unknown>) =>
  admin.post('/employee/add/', {
    first_name: 'Grace',
    last_name: 'Hopper',
    email: `e${Math.random().toString(36).slice(2)}@example.com`,
    companyId: admin.companyId,
    ...values,
  });
const self = `/api/employees/${admin.employeeId}/`;

/** Every field that is a name, and how it is written. */
const fields: [string, string, (value: string) => Promise<{ status: number }>][] = [
  ['company_name', 'of a registration', (value) => sent({ company_name: value })],
  ['first_name', 'of a registration', (value) => sent({ first_name: value })],
  ['last_name', 'of a registration', (value) => sent({ last_name: value })],
  ['name', 'of a company', (name) => admin.put(`/company/${admin.companyId}/update/`, { name })],
  ['first_name', 'of a new employee', (value) => employee({ first_name: value })],
  ['last_name', 'of a new employee', (value) => employee({ last_name: value })],
  ['designation', 'of a new employee', (value) => employee({ designation: value })],
  ['first_name', 'of an employee', (value) => admin.patch(self, { first_name: value })],
  ['last_name', 'of an employee', (value) => admin.patch(self, { last_name: value })],
  ['name', 'of an employee', (name) => admin.patch(self, { name })],
  ['designation', 'of an employee', (designation) => admin.patch(self, { designation })],
  ['name', 'of an API key', (name) => admin.post('/api/api-keys/', { name, scopes: ['read'] })],
];

describe('a name', () => {
  test.each(fields)('%s %s holds no web address and nothing hidden', async (field, _of, write) => {
    for (const wrong of [...links, ...hidden]) {
      const answer = await write(wrong);
      expect([wrong, errorOf(answer as never)]).toEqual([
        wrong,
        { status: 400, code: 'VALIDATION_FAILED', issues: [field] },
      ]);
    }
  });

  const isOptional = (field: string, of: string) =>
    field === 'designation' || (field === 'name' && of === 'of an employee');
  test.each(fields.filter(([field, of]) => !isOptional(field, of)))(
    '%s %s has something to see',
    async (field, _of, write) => {
      for (const wrong of invisible) {
        const answer = await write(wrong);
        expect([wrong, errorOf(answer as never)]).toEqual([
          wrong,
          { status: 400, code: 'VALIDATION_FAILED', issues: [field] },
        ]);
      }
    },
  );

  test('that may be omitted counts as none without anything to see', async () => {
    const { body } = await admin.patch(self, { first_name: 'Ada', last_name: 'King', name: 'Lady' });
    expect(body.name).toBe('Lady');
    for (const name of invisible) {
      const answer = await admin.patch(self, { name, designation: name });
      expect(answer.body).toMatchObject({ name: 'Ada King', designation: null });
    }
  });

  test.each(fields.slice(3))('%s %s is any honest one, in every script', async (_field, _of, write) => {
    for (const name of honest) expect([name, (await write(name)).status]).toEqual([name, 200]);
  });
});
