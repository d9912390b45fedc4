/** The commands `cert` and `verify`: create a certificate, and check one that a customer sends. */
import { formatMinute } from '@muster/terminal';
import { maxOfflineDays } from '../air-gap/days.ts';
import { parseKey } from '../key/key.ts';
import { certifyMachine } from '../operators/certify.ts';
import { getLicense, stateOf } from '../operators/license.ts';
import { listKeyPrefixes } from '../operators/products.ts';
import { inTransaction, inReadOnlyTransaction, RefusedError } from '../operators/transaction.ts';
import { type SignedCertificateKind, certificateKinds, readCertificate } from '../signing/certificate.ts';
import { loadSigningKeys, toKeyObject } from '../signing/signing-key.ts';
import { hasherOf } from './change.ts';
import {
  type CommandContext,
  type LicenseCommand,
  numberOption,
  readLicenseRef,
  type CommandOutput,
  addIdOption,
} from './command.ts';
import { machineIdOption } from './machines.ts';
import { parseDurationSeconds } from './term.ts';

const defaultCertificateSeconds = 7 * 86_400;
const maxCertificateSeconds = maxOfflineDays * 86_400;

const certCommand: LicenseCommand = {
  name: 'cert',
  description: 'Create a certificate so that the machine with the license can run offline',
  configure: (it) =>
    addIdOption(it)
      .requiredOption('--machine <machineId>', 'the machine’s id')
      .option(
        '--for <span>',
        'how long; by default 7d, at most until the license ends',
        parseDurationSeconds,
      ),
  run: async (context, options) => {
    const seconds = numberOption(options, 'for') ?? defaultCertificateSeconds;
    if (seconds < 1 || seconds > maxCertificateSeconds)
      throw new RefusedError('span', `a certificate can be valid for at most ${maxOfflineDays}d`);
    const machineId = machineIdOption(options);
    const ref = await readLicenseRef(context, options);
    const [hasher, { seals }] = await Promise.all([hasherOf(context), context.secrets()]);
    const keys = await loadSigningKeys(context.pool, seals);
    const made = await inTransaction(context.pool, (db) =>
      certifyMachine(db, ref, { machineId, hasher, signingKeysByProduct: keys, validSeconds: seconds }),
    );
    return { json: made, lines: [`Valid until ${formatMinute(made.expiresAt)} UTC:`, made.certificate] };
  },
};

const notGenuineOutput = (reason: string, line: string): CommandOutput => ({
  json: { isGenuine: false, reason },
  lines: [line],
  foundProblem: true,
});

const loadPublicKeyLookup = async ({ pool, secrets }: CommandContext) => {
  const published = [...(await loadSigningKeys(pool, (await secrets()).seals)).values()].flatMap(
    (keys) => keys.published,
  );
  return (kid: string) => {
    const key = published.find((one) => one.kid === kid);
    return key && toKeyObject(key);
  };
};

async function verifyCertificate(
  context: CommandContext,
  certificate: string,
  kind: SignedCertificateKind,
): Promise<CommandOutput> {
  const payload = readCertificate(certificate, await loadPublicKeyLookup(context), kind);
  if (payload === undefined)
    return notGenuineOutput(
      'not_genuine',
      'This certificate was not signed with a key of this installation.',
    );
  const isAlive = payload.exp * 1_000 > Date.now();
  const ends = `${isAlive ? 'is valid until' : 'expired'} ${formatMinute(new Date(payload.exp * 1_000).toISOString())}`;
  const json = { isGenuine: true, isAlive, payload };
  if (kind === 'trial1') {
    const line = `A genuine certificate for trial ${payload.lic}; it ${ends}.`;
    return { json, lines: [line], foundProblem: !isAlive };
  }
  const license = await inReadOnlyTransaction(context.pool, (db) => getLicense(db, { id: payload.lic }));
  const state = stateOf(license);
  return {
    json: { ...json, license: { ...license, state } },
    lines: [
      `A genuine certificate for license ${payload.lic}, plan ${payload.plan}; it ${ends}.`,
      `The license is ${state} now.`,
    ],
    foundProblem: !isAlive,
  };
}

async function verifyKey({ pool }: CommandContext, text: string): Promise<CommandOutput> {
  const parsed = parseKey(text, await inReadOnlyTransaction(pool, listKeyPrefixes));
  if (parsed.kind === 'none')
    return notGenuineOutput('invalid_license_key', 'This is neither a license key nor a certificate.');
  if (parsed.kind === 'typo') {
    const { position, typedPosition, perhaps: perhaps } = parsed;
    return {
      ...notGenuineOutput(
        'invalid_license_key',
        `Not a valid license key: character ${typedPosition} looks wrong, perhaps it is ${perhaps}.`,
      ),
      json: { isGenuine: false, reason: 'invalid_license_key', position, perhaps },
    };
  }
  const license = await inReadOnlyTransaction(pool, (db) => getLicense(db, { key: text }));
  return {
    json: { isGenuine: true, license: { ...license, state: stateOf(license) } },
    lines: [`A genuine key: license ${license.id}, plan ${license.plan}, ${stateOf(license)}.`],
  };
}

const verifyCommand: LicenseCommand = {
  name: 'verify',
  description:
    'Check a key or a certificate from standard input: whether it is genuine, and its current state',
  run: async (context) => {
    const [text, ...more] = await context.readLines('Key or certificate');
    if (text === undefined || more.length > 0)
      throw new RefusedError('one_line', 'give one key or certificate, on one line');
    const kind = certificateKinds.find((one) => text.trim().startsWith(`${one}.`));
    return kind === undefined ? verifyKey(context, text) : verifyCertificate(context, text, kind);
  },
};

export const certificateCommands = [certCommand, verifyCommand];
