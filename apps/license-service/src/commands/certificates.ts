/** cert and verify: certificates made by hand, and what a customer sends looked at. */
import { minuteOf } from '@muster/terminal';
import { parseKey } from '../key/key.ts';
import { certify } from '../operators/certify.ts';
import { getLicense, stateOf } from '../operators/license.ts';
import { keyPrefixes } from '../operators/products.ts';
import { inTransaction, reading, Refused } from '../operators/transaction.ts';
import { readCertificate } from '../signing/certificate.ts';
import { loadKeys, toKeyObject } from '../signing/signing-key.ts';
import { hasherOf } from './change.ts';
import { type Context, type LicenseCommand, number, refOf, type Shown, withId } from './command.ts';
import { machineOf } from './machines.ts';
import { toSeconds } from './term.ts';

const usualSeconds = 7 * 86_400;
const mostSeconds = 366 * 86_400;

export const certCommand: LicenseCommand = {
  name: 'cert',
  description: 'Make a certificate for the machine that has the license, to run offline',
  shape: (it) =>
    withId(it)
      .requiredOption('--machine <machineId>', 'the machine’s id')
      .option('--for <span>', 'how long; 7d unless said, never past the license’s end', toSeconds),
  run: async (context, options) => {
    const seconds = number(options, 'for') ?? usualSeconds;
    if (seconds < 1 || seconds > mostSeconds) throw new Refused('span', 'a certificate lives at most 366d');
    const machineId = machineOf(options);
    const ref = await refOf(context, options);
    const [hasher, { seals }] = await Promise.all([hasherOf(context), context.secrets()]);
    const keys = await loadKeys(context.pool, seals);
    const made = await inTransaction(context.pool, (ask) =>
      certify(ask, ref, { machineId, hasher, keys, seconds }),
    );
    return { json: made, lines: [`Valid until ${minuteOf(made.expiresAt)} UTC:`, made.certificate] };
  },
};

const bad = (reason: string, line: string): Shown => ({
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

async function verifyTrial(context: Context, certificate: string): Promise<Shown> {
  const payload = readCertificate(certificate, await keysOf(context), 'trial1');
  if (payload === undefined) return bad('not_genuine', 'This certificate is not signed by a key of ours.');
  const isAlive = payload.exp * 1_000 > Date.now();
  const until = minuteOf(new Date(payload.exp * 1_000).toISOString());
  return {
    json: { isGenuine: true, isAlive, payload },
    lines: [
      `A certificate of ours for trial ${payload.lic}; it ${isAlive ? 'lives until' : 'ended'} ${until}.`,
    ],
    isBad: !isAlive,
  };
}

async function verifyCertificate(context: Context, certificate: string): Promise<Shown> {
  const { pool } = context;
  const payload = readCertificate(certificate, await keysOf(context));
  if (payload === undefined) return bad('not_genuine', 'This certificate is not signed by a key of ours.');
  const license = await reading(pool, (ask) => getLicense(ask, { id: payload.lic }));
  const isAlive = payload.exp * 1_000 > Date.now();
  const until = minuteOf(new Date(payload.exp * 1_000).toISOString());
  return {
    json: { isGenuine: true, isAlive, payload, license: { ...license, state: stateOf(license) } },
    lines: [
      `A certificate of ours for license ${payload.lic}, plan ${payload.plan}; it ${isAlive ? 'lives until' : 'ended'} ${until}.`,
      `The license is ${stateOf(license)} now.`,
    ],
    isBad: !isAlive,
  };
}

async function verifyKey({ pool }: Context, text: string): Promise<Shown> {
  const parsed = parseKey(text, await reading(pool, keyPrefixes));
  if (parsed.kind === 'none')
    return bad('invalid_license_key', 'This is no license key, and no certificate.');
  if (parsed.kind === 'typo') {
    const { position, typedPosition, perhaps } = parsed;
    return {
      ...bad(
        'invalid_license_key',
        `This is no license key: character ${typedPosition} looks wrong, perhaps ${perhaps}.`,
      ),
      json: { isGenuine: false, reason: 'invalid_license_key', position, perhaps },
    };
  }
  const license = await reading(pool, (ask) => getLicense(ask, { key: text }));
  return {
    json: { isGenuine: true, license: { ...license, state: stateOf(license) } },
    lines: [`A key of ours: license ${license.id}, plan ${license.plan}, ${stateOf(license)}.`],
  };
}

export const verifyCommand: LicenseCommand = {
  name: 'verify',
  description: 'Look at a key or a certificate from standard input: is it ours, and what is it worth now',
  run: async (context) => {
    const [text, ...more] = await context.readLines('Key or certificate');
    if (text === undefined || more.length > 0)
      throw new Refused('one_line', 'one key or certificate, on one line');
    if (text.trim().startsWith('trial1.')) return verifyTrial(context, text);
    return text.trim().startsWith('lic1.') ? verifyCertificate(context, text) : verifyKey(context, text);
  },
};
