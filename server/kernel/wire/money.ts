import { data as currencies } from 'currency-codes';
import { z } from 'zod';
import { rule } from '../../errors/issues.ts';

const digits = new Map(currencies.map((one) => [one.code, one.digits]));

/** A currency that ISO 4217 lists, in upper case. */
const currency = z
  .string()
  .refine((code) => digits.has(code), rule('invalid_format', 'must be the code of a currency of ISO 4217, as in EUR'))
  .meta({ description: 'Code of ISO 4217', examples: ['EUR'], pattern: '^[A-Z]{3}$' });

/** The number of decimals of a currency: 2 of EUR, 0 of JPY. */
export const digitsOf = (code: string): number => digits.get(code) ?? 2;

/** Large enough for an hour in any currency, and small enough for exact sums of 100,000 hours. */
export const rateMax = 10_000_000_000;
export const amountMax = 1_000_000_000_000_000;

const unitMeaning = 'In minor units of the currency: 9550 EUR are 95.50 €, 9550 JPY are 9,550 ¥';

/** An amount of money in an answer. */
export const Money = z
  .object({
    minorUnits: z.int().meta({ description: unitMeaning, examples: [9500] }),
    currency: z.string().meta({ description: 'Code of ISO 4217', examples: ['EUR'] }),
  })
  .meta({ id: 'Money' });
export type Money = z.infer<typeof Money>;

/** The money of two columns; null where there is none. */
export const moneyOf = (minorUnits: number | null, currency: string | null): Money | null =>
  minorUnits === null || currency === null ? null : { minorUnits, currency };

/** An amount of money that a caller gives. */
export const moneyUpTo = (max: number) =>
  z.object({
    minorUnits: z
      .int()
      .min(0)
      .max(max)
      .meta({ description: unitMeaning, examples: [9500] }),
    currency,
  });

/** The amount in whole units of its currency, for people: 95.5 of 9550 EUR. */
export const inUnits = ({ minorUnits, currency }: Money): number => minorUnits / 10 ** digitsOf(currency);

/** The amount for a sentence, as in "95.50 EUR". */
export const writeMoney = (money: Money): string =>
  `${inUnits(money).toFixed(digitsOf(money.currency))} ${money.currency}`;

/** Sums of each currency, by code; without those of nothing. */
export function sumMoney(amounts: Iterable<Money>): Money[] {
  const sums = new Map<string, number>();
  for (const { minorUnits, currency } of amounts) sums.set(currency, (sums.get(currency) ?? 0) + minorUnits);
  return [...sums]
    .filter(([, minorUnits]) => minorUnits !== 0)
    .map(([currency, minorUnits]) => ({ minorUnits, currency }))
    .toSorted((a, b) => (a.currency < b.currency ? -1 : 1));
}
