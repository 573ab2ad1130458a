import { z } from 'zod';
import { idOf } from '../../kernel/wire/fields.ts';
import { moment } from '../../kernel/wire/moments.ts';

const exportStates = ['waiting', 'running', 'finished'] as const;

export const Export = z
  .object({
    _id: idOf('export'),
    companyId: idOf('company'),
    userId: idOf('employee')
      .nullable()
      .meta({ description: 'The employee whose data it has; null for the whole company', examples: [null] }),
    requestedById: idOf('employee').meta({ description: 'The admin who asked for it' }),
    state: z.enum(exportStates).meta({ description: 'How it stands', examples: ['finished'] }),
    rowsDone: z.int().meta({ description: 'How many rows have been written', examples: [1_042_311] }),
    rowsTotal: z
      .int()
      .nullable()
      .meta({ description: 'How many rows there are; null until they are counted', examples: [1_042_311] }),
    bytes: z
      .int()
      .nullable()
      .meta({ description: 'The size of the file; null until it is finished', examples: [48_310_077] }),
    sha256: z
      .string()
      .nullable()
      .meta({ description: 'The SHA-256 of the file in hexadecimal; null until it is finished', examples: [null] }),
    url: z
      .string()
      .nullable()
      .meta({
        description:
          'Where the file is, for GET without a token, until `expiresAt`; null until it is finished. It lets its holder read all that is in the file, and stops working when the admin who asked for it is no admin any more',
        examples: [null],
      }),
    createdAt: moment,
    finishedAt: moment.nullable().meta({ description: 'When it was finished; null before', examples: [null] }),
    expiresAt: moment.meta({ description: 'When it is deleted: 24 hours after it is finished, or asked for' }),
  })
  .meta({ id: 'Export', description: 'A file with the data of a company or of one person' });
