/** The command `doctor`: checks an installation for known problems and prints their remedies. */
import { queryOutsideOrg, createPool, type Pool, sql } from '@muster/driver';
import { createRedisCheck } from '@muster/http';
import { discoverIssuer, innermostMessageOf } from '@muster/outbound/issuers';
import { createSender } from '@muster/outbound/sender';
import { readConfig } from '../config.ts';
import { isSchemaCurrent } from '../database.ts';
import { listGrants } from '../operators/grants.ts';
import { listProducts, defaultProduct } from '../operators/products.ts';
import { listSigningKeys, type SigningKey } from '../operators/signing-keys.ts';
import { inReadOnlyTransaction } from '../operators/transaction.ts';
import { countMachinesByPepper } from '../operators/trail.ts';
import { createSecretSealer } from '../operators/webhooks.ts';
import { loadSigningKeys } from '../signing/signing-key.ts';
import { hasherOf } from './change.ts';
import { type CommandContext, errorMessageOf, type LicenseCommand } from './command.ts';

interface Finding {
  readonly what: string;
  /** The verdict. `note` means that the checked part works but could be improved. */
  readonly is: 'well' | 'note' | 'wrong';
  readonly says: string;
}

const passed = (what: string, says: string): Finding => ({ what, is: 'well', says });
const note = (what: string, says: string): Finding => ({ what, is: 'note', says });
const problem = (what: string, says: string): Finding => ({ what, is: 'wrong', says });

type DoctorCheck = (context: CommandContext) => Promise<Finding | Finding[]>;

const checkSchema: DoctorCheck = async ({ pool }) =>
  (await isSchemaCurrent(pool))
    ? passed('schema', 'current')
    : problem('schema', 'out of date; run license migrate');

/** Checks that the role of the service has the rights it needs, and none to change or delete events. */
const checkServiceRole: DoctorCheck = async ({ databaseUrl }) => {
  const service: Pool = createPool({
    url: databaseUrl,
    role: 'muster_licenses',
    max: 1,
    name: 'license-doctor',
  });
  try {
    const { rows } = await service.query<{ works: boolean; keeps: boolean }>(
      `select has_column_privilege('licenses.licenses', 'offline_until', 'update')
           and has_table_privilege('licenses.license_machines', 'insert')
           and has_table_privilege('licenses.license_events', 'insert') as works,
         not has_table_privilege('licenses.license_events', 'update, delete, truncate')
           and not has_table_privilege('licenses.licenses', 'delete, truncate') as keeps`,
    );
    const [row] = rows;
    if (row?.works !== true) return problem('role', 'muster_licenses lacks permissions; run license migrate');
    return row.keeps
      ? passed('role', 'muster_licenses has the needed permissions and cannot change events')
      : problem('role', 'muster_licenses can change or delete events; revoke those permissions');
  } finally {
    await service.end();
  }
};

const checkSecrets: DoctorCheck = async ({ environment }) =>
  (['LICENSE_PEPPER', 'LICENSE_SEAL'] as const).map((name) =>
    environment[name]
      ? passed(name, 'set in the environment')
      : note(name, 'is not set: a secret in the database is used instead, next to the data that it protects'),
  );

const checkPeppers: DoctorCheck = async (context) => {
  const [{ pepperId, pepperIds }, found] = await Promise.all([
    hasherOf(context),
    inReadOnlyTransaction(context.pool, countMachinesByPepper),
  ]);
  const count = (wanted: (id: string) => boolean): number =>
    found.filter((one) => wanted(one.pepperId)).reduce((sum, { machines }) => sum + machines, 0);
  const lost = count((id) => !pepperIds.includes(id));
  const old = count((id) => pepperIds.includes(id) && id !== pepperId);
  const known = passed('machines', `${count((id) => id === pepperId)} use the current pepper`);
  if (lost > 0)
    return [
      problem(
        'machines',
        `${lost} use a pepper that is not configured, so their machines are not recognized`,
      ),
    ];
  return old === 0
    ? known
    : [known, note('machines', `${old} still use the old pepper; keep it until they have been updated`)];
};

const checkSigningKeys: DoctorCheck = async ({ pool, secrets }) => {
  const [{ seals }, products, keys] = await Promise.all([
    secrets(),
    inReadOnlyTransaction(pool, listProducts),
    inReadOnlyTransaction(pool, listSigningKeys),
  ]);
  const ofProducts = await loadSigningKeys(pool, seals);
  return products.map(({ name }) => {
    const own = keys.filter(({ product }) => product === name);
    return signingFinding(name, own, ofProducts.get(name)?.signer?.kid);
  });
};

function signingFinding(
  product: string,
  keys: readonly SigningKey[],
  usedKeyId: string | undefined,
): Finding {
  const what = product === defaultProduct ? 'signing' : `signing ${product}`;
  const current = keys.find(({ state }) => state === 'current');
  if (current === undefined)
    return problem(what, 'no signing key is active: license signing-key new --in 0d');
  if (usedKeyId === undefined)
    return problem(
      what,
      'no signing key can be decrypted with LICENSE_SEAL: correct it, or run signing-key new --in 0d',
    );
  const following = keys.filter(({ state }) => state === 'next').length;
  return usedKeyId === current.kid
    ? passed(what, `signs with ${usedKeyId}; ${following} more will follow`)
    : note(
        what,
        `${current.kid} should sign but cannot be decrypted with LICENSE_SEAL; ${usedKeyId} signs instead`,
      );
}

const checkWebhookSecrets: DoctorCheck = async ({ pool, secrets }) => {
  const sealing = createSecretSealer((await secrets()).seals);
  const rows = await queryOutsideOrg(
    pool,
    sql<{ id: string; bytes: Buffer }>`select id, sealed_secret as bytes from licenses.webhook_endpoints`,
  );
  const shut = rows.filter(({ id, bytes }) => sealing.open(id, bytes) === undefined).length;
  return shut === 0
    ? passed('webhooks', `${rows.length} endpoints`)
    : problem(
        'webhooks',
        `${shut} receive nothing, because their secrets cannot be decrypted with LICENSE_SEAL: create new ones with webhooks/rotateSecret`,
      );
};

const maxClockSkewMillis = 5_000;

const checkClock: DoctorCheck = async ({ pool }) => {
  const before = Date.now();
  const [row] = await queryOutsideOrg(pool, sql<{ at: string }>`select clock_timestamp() as at`);
  const skew = Math.round(new Date(row?.at ?? 0).getTime() - (before + Date.now()) / 2);
  return Math.abs(skew) <= maxClockSkewMillis
    ? passed('clock', `the database's clock differs by ${skew} ms from this machine's`)
    : problem(
        'clock',
        `the database's clock differs by ${skew} ms from this machine's, so certificates expire at the wrong time`,
      );
};

const checkRedis: DoctorCheck = async ({ environment }) => {
  const url = environment['REDIS_URL'];
  if (!url) return note('redis', 'REDIS_URL is not set, so each process counts attempts separately');
  const redis = createRedisCheck(url);
  try {
    await redis.check.run();
    return passed('redis', 'answers');
  } catch {
    return problem('redis', 'does not answer, so each process counts attempts separately');
  } finally {
    redis.close();
  }
};

const checkProxySettings: DoctorCheck = async ({ environment }) => {
  const { TRUST_PROXY: trusted } = readConfig({ ...environment });
  return trusted === undefined
    ? note(
        'proxies',
        'TRUST_PROXY is not set: behind a load balancer all clients share one address and one limit',
      )
    : passed('proxies', `trusted: ${Array.isArray(trusted) ? trusted.join(', ') : `${trusted} proxies`}`);
};

const checkSupportSignIn: DoctorCheck = async ({ environment, pool }) => {
  const { operatorsIssuer: issuer, WEBHOOK_NETWORKS: networks } = readConfig({ ...environment });
  if (issuer === undefined)
    return note('support', 'OPERATORS_ISSUER is not set, so support signs in with a token');
  const granted = (await inReadOnlyTransaction(pool, listGrants)).filter(({ isGood }) => isGood).length;
  if (granted === 0) return problem('support', 'no one has access there yet: license operator grant');
  const sender = createSender({ networks });
  try {
    await discoverIssuer(sender, issuer);
    return passed('support', `${issuer.name} answers, and ${granted} grants are active`);
  } catch (error) {
    return problem('support', `${issuer.issuer}: ${innermostMessageOf(error)}`);
  } finally {
    sender.close();
  }
};

const doctorChecks: readonly [string, DoctorCheck][] = [
  ['schema', checkSchema],
  ['role', checkServiceRole],
  ['secrets', checkSecrets],
  ['machines', checkPeppers],
  ['signing', checkSigningKeys],
  ['webhooks', checkWebhookSecrets],
  ['clock', checkClock],
  ['redis', checkRedis],
  ['environment', checkProxySettings],
  ['support', checkSupportSignIn],
];

const verdictLabels = { well: 'ok   ', note: 'note ', wrong: 'WRONG' } as const;

export const doctorCommand: LicenseCommand = {
  name: 'doctor',
  description: 'Check the installation for problems; the exit code is 1 if there are any',
  run: async (context) => {
    const findings: Finding[] = [];
    for (const [what, look] of doctorChecks) {
      const found = await look(context).catch((error: unknown) => problem(what, errorMessageOf(error)));
      findings.push(...[found].flat());
    }
    return {
      json: { findings },
      lines: findings.map(({ is, what, says }) => `${verdictLabels[is]} ${what}: ${says}`),
      foundProblem: findings.some(({ is }) => is === 'wrong'),
    };
  },
};
