import { formatMinute } from '@muster/terminal';
import { maxOfflineDays } from '../air-gap/days.ts';
import { listSigningKeys, createSigningKey, retireSigningKey } from '../operators/signing-keys.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { listOutput, type LicenseCommand, numberOption, productOption, addProductOption } from './command.ts';
import { parseDurationSeconds } from './term.ts';

/**
 * The default time in seconds from the publication of a key to its use. It is longer than any client caches
 * the published keys.
 */
const defaultActivationDelaySeconds = 7 * 86_400;
/**
 * The default time in seconds that a retired key stays published. It is longer than any certificate lasts,
 * including offline answers.
 */
const defaultPublishedSeconds = (maxOfflineDays + 1) * 86_400;

const signingKeyNewCommand: LicenseCommand = {
  name: 'signing-key new',
  description: 'Create a signing key: it is published immediately and used later',
  configure: (it) =>
    addProductOption(it).option(
      '--in <span>',
      'when it is first used; by default in 7d, 0d means now',
      parseDurationSeconds,
    ),
  run: async ({ pool, secrets }, options) => {
    const [seal] = (await secrets()).seals;
    if (seal === undefined)
      throw new RefusedError('no_seal', 'set LICENSE_SEAL, which encrypts the signing keys');
    const inSeconds = numberOption(options, 'in') ?? defaultActivationDelaySeconds;
    const product = productOption(options);
    const made = await inTransaction(pool, (db) => createSigningKey(db, seal, { inSeconds, product }));
    return {
      json: made,
      lines: [`Created the key ${made.kid}; it signs from ${formatMinute(made.activeFrom)} UTC on.`],
    };
  },
};

const signingKeyListCommand: LicenseCommand = {
  name: 'signing-key list',
  description: 'List the signing keys, newest first',
  run: async ({ pool }) => {
    const items = await inReadOnlyTransaction(pool, listSigningKeys);
    return listOutput(items, {
      PRODUCT: (key) => key.product,
      KEY: (key) => key.kid,
      STATE: (key) => key.state,
      'SIGNS FROM': (key) => formatMinute(key.activeFrom),
      RETIRED: (key) => formatMinute(key.retiredAt),
      'PUBLISHED UNTIL': (key) => formatMinute(key.publishedUntil),
    });
  },
};

const signingKeyRetireCommand: LicenseCommand = {
  name: 'signing-key retire',
  description: 'Stop signing with a key; its signatures can still be verified for a while',
  configure: (it) =>
    it
      .argument('<key>', 'its id, as shown by signing-key list')
      // Key IDs are base64url and may begin with a dash.
      .allowUnknownOption()
      .option(
        '--publish-for <span>',
        `how long it stays published; by default ${maxOfflineDays + 1}d`,
        parseDurationSeconds,
      )
      .option('--leaked', 'the key may have leaked: stop publishing it immediately'),
  run: async ({ pool }, options, [kid = '']) => {
    const publishedSeconds =
      options['leaked'] === true ? 0 : (numberOption(options, 'publishFor') ?? defaultPublishedSeconds);
    await inTransaction(pool, (db) => retireSigningKey(db, { kid, publishedSeconds }));
    return {
      json: { retired: kid },
      lines: [`The key ${kid} no longer signs; services apply this within 30 s.`],
    };
  },
};

export const signingKeyCommands = [signingKeyNewCommand, signingKeyListCommand, signingKeyRetireCommand];
