/** The commands `cert` and `verify`: create a certificate, and check one that a customer sends. */
import { minuteOf } from '@muster/terminal';
import { mostDays } from '../air-gap/days.ts';
import { parseKey } from '../key/key.ts';
import { certify } from '../operators/certify.ts';
import { getLicense, stateOf } from '../operators/license.ts';
import { keyPrefixes } from '../operators/products.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { type SignedCertificateKind, certificateKinds, readCertificate } from '../signing/certificate.ts';
import { loadKeys, toKeyObject } from '../signing/signing-key.ts';
import { hasherOf } from './change.ts';
import { type Context, type LicenseCommand, number, refOf, type CommandOutput, withId } from './command.ts';
import { machineOf } from './machines.ts';
import { toSeconds } from './term.ts';

const usualSeconds = 7 * 86_400;
const mostSeconds = mostDays * 86_400;

export const certCommand: LicenseCommand = {
  name: 'cert',
  description: 'Create a certificate so that the machine with the license can run offline',
  shape: (it) =>
    withId(it)
      .requiredOption('--machine <machineId>', 'the machine’s id')
      .option('--for <span>', 'how long; by default 7d, at most until the license ends', toSeconds),
  run: async (context, options) => {
    const seconds = number(options, 'for') ?? usualSeconds;
    if (seconds < 1 || seconds > mostSeconds)
      throw new Refused('span', `a certificate can be valid for at most ${mostDays}d`);
    const machineId = machineOf(options);
    const ref = await refOf(context, options);
    const [hasher, { seals }] = await Promise.all([hasherOf(context), context.secrets()]);
    const keys = await loadKeys(context.pool, seals);
    const made = await inTransaction(context.pool, (db) =>
      certify(db, ref, { machineId, hasher, keys, seconds }),
    );
    return { json: made, lines: [`Valid until ${minuteOf(made.expiresAt)} UTC:`, made.certificate] };
  },
};

const bad = (reason: string, line: string): CommandOutput => ({
  json: { isGenuine: false, reason },
  lines: [line],
  isBad: true,
});

const keysOf = async ({ pool, secrets }: Context) => {
  const published = [...(await loadKeys(pool, (await secrets()).seals)).values()].flatMap(
    (keys) => keys.published,
  );
  return (kid: string) => {
    const key = published.find((one) => one.kid === kid);
    return key && toKeyObject(key);
  };
};

async function verifyCertificate(
  context: Context,
  certificate: string,
  kind: SignedCertificateKind,
): Promise<CommandOutput> {
  const payload = readCertificate(certificate, await keysOf(context), kind);
  if (payload === undefined)
    return bad('not_genuine', 'This certificate was not signed with a key of this installation.');
  const isAlive = payload.exp * 1_000 > Date.now();
  const ends = `${isAlive ? 'is valid until' : 'expired'} ${minuteOf(new Date(payload.exp * 1_000).toISOString())}`;
  const json = { isGenuine: true, isAlive, payload };
  if (kind === 'trial1') {
    const line = `A genuine certificate for trial ${payload.lic}; it ${ends}.`;
    return { json, lines: [line], isBad: !isAlive };
  }
  const license = await reading(context.pool, (db) => getLicense(db, { id: payload.lic }));
  const state = stateOf(license);
  return {
    json: { ...json, license: { ...license, state } },
    lines: [
      `A genuine certificate for license ${payload.lic}, plan ${payload.plan}; it ${ends}.`,
      `The license is ${state} now.`,
    ],
    isBad: !isAlive,
  };
}

async function verifyKey({ pool }: Context, text: string): Promise<CommandOutput> {
  const parsed = parseKey(text, await reading(pool, keyPrefixes));
  if (parsed.kind === 'none')
    return bad('invalid_license_key', 'This is neither a license key nor a certificate.');
  if (parsed.kind === 'typo') {
    const { position, typedPosition, perhaps } = parsed;
    return {
      ...bad(
        'invalid_license_key',
        `Not a valid license key: character ${typedPosition} looks wrong, perhaps it is ${perhaps}.`,
      ),
      json: { isGenuine: false, reason: 'invalid_license_key', position, perhaps },
    };
  }
  const license = await reading(pool, (db) => getLicense(db, { key: text }));
  return {
    json: { isGenuine: true, license: { ...license, state: stateOf(license) } },
    lines: [`A genuine key: license ${license.id}, plan ${license.plan}, ${stateOf(license)}.`],
  };
}

export const verifyCommand: LicenseCommand = {
  name: 'verify',
  description:
    'Check a key or a certificate from standard input: whether it is genuine, and its current state',
  run: async (context) => {
    const [text, ...more] = await context.readLines('Key or certificate');
    if (text === undefined || more.length > 0)
      throw new Refused('one_line', 'give one key or certificate, on one line');
    const kind = certificateKinds.find((one) => text.trim().startsWith(`${one}.`));
    return kind === undefined ? verifyKey(context, text) : verifyCertificate(context, text, kind);
  },
};
