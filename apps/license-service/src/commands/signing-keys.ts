import { minuteOf, table } from '@muster/terminal';
import { mostDays } from '../air-gap/days.ts';
import { listKeys, newKeyFor, retireKey } from '../operators/signing-keys.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type LicenseCommand, number, productIn, withProduct } from './command.ts';
import { toSeconds } from './term.ts';

/**
 * The default time in seconds from the publication of a key to its use. It is longer than any client caches
 * the published keys.
 */
const usualNotice = 7 * 86_400;
/**
 * The default time in seconds that a retired key stays published. It is longer than any certificate lasts,
 * including offline answers.
 */
const usualAftermath = (mostDays + 1) * 86_400;

export const signingKeyNew: LicenseCommand = {
  name: 'signing-key new',
  description: 'Create a signing key: it is published immediately and used later',
  shape: (it) =>
    withProduct(it).option('--in <span>', 'when it is first used; by default in 7d, 0d means now', toSeconds),
  run: async ({ pool, secrets }, options) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined) throw new Refused('no_seal', 'set LICENSE_SEAL, which encrypts the signing keys');
    const inSeconds = number(options, 'in') ?? usualNotice;
    const product = productIn(options);
    const made = await inTransaction(pool, (db) => newKeyFor(db, seal, { inSeconds, product }));
    return {
      json: made,
      lines: [`Created the key ${made.kid}; it signs from ${minuteOf(made.activeFrom)} UTC on.`],
    };
  },
};

export const signingKeyList: LicenseCommand = {
  name: 'signing-key list',
  description: 'List the signing keys, newest first',
  run: async ({ pool }) => {
    const items = await reading(pool, (db) => listKeys(db));
    return {
      json: { items },
      lines: table(
        ['PRODUCT', 'KEY', 'STATE', 'SIGNS FROM', 'RETIRED', 'PUBLISHED UNTIL'],
        items.map(({ product, kid, state, activeFrom, retiredAt, publishedUntil }) => [
          ...[product, kid, state, minuteOf(activeFrom), minuteOf(retiredAt), minuteOf(publishedUntil)],
        ]),
      ),
    };
  },
};

export const signingKeyRetire: LicenseCommand = {
  name: 'signing-key retire',
  description: 'Stop signing with a key; its signatures can still be verified for a while',
  shape: (it) =>
    it
      .argument('<key>', 'its id, as shown by signing-key list')
      // Key IDs are base64url and may begin with a dash.
      .allowUnknownOption()
      .option('--publish-for <span>', `how long it stays published; by default ${mostDays + 1}d`, toSeconds)
      .option('--leaked', 'the key may have leaked: stop publishing it immediately'),
  run: async ({ pool }, options, [kid = '']) => {
    const publishedSeconds =
      options['leaked'] === true ? 0 : (number(options, 'publishFor') ?? usualAftermath);
    await inTransaction(pool, (db) => retireKey(db, { kid, publishedSeconds }));
    return {
      json: { retired: kid },
      lines: [`The key ${kid} no longer signs; services apply this within 30 s.`],
    };
  },
};
