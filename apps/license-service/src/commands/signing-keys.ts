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
  description: 'Make a signing key: published at once, used after a while',
  shape: (it) =>
    withProduct(it).option('--in <span>', 'when it is used from; 7d unless said, 0d for at once', toSeconds),
  run: async ({ pool, secrets }, options) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined)
      throw new Refused('no_seal', 'set LICENSE_SEAL: the signing keys are sealed with it');
    const inSeconds = number(options, 'in') ?? usualNotice;
    const product = productIn(options);
    const made = await inTransaction(pool, (db) => newKeyFor(db, seal, { inSeconds, product }));
    return {
      json: made,
      lines: [`Made the key ${made.kid}; it signs from ${minuteOf(made.activeFrom)} UTC on.`],
    };
  },
};

export const signingKeyList: LicenseCommand = {
  name: 'signing-key list',
  description: 'List the signing keys, the newest first',
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
  description: 'Sign no more with a key; what it signed can be checked for a while',
  shape: (it) =>
    it
      .argument('<key>', 'which, as signing-key list shows it')
      // Key IDs are base64url and may begin with a dash.
      .allowUnknownOption()
      .option('--publish-for <span>', `how long it stays published; ${mostDays + 1}d unless said`, toSeconds)
      .option('--leaked', 'somebody else may have it: take it away at once'),
  run: async ({ pool }, options, [kid = '']) => {
    const publishedSeconds =
      options['leaked'] === true ? 0 : (number(options, 'publishFor') ?? usualAftermath);
    await inTransaction(pool, (db) => retireKey(db, { kid, publishedSeconds }));
    return {
      json: { retired: kid },
      lines: [`The key ${kid} signs no more; services hear of it within 30 s.`],
    };
  },
};
