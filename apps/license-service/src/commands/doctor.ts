/** The command `doctor`: checks an installation for known problems and prints their remedies. */
import { ask, createPool, type Pool, sql } from '@muster/driver';
import { redisCheck } from '@muster/http';
import { openIssuer, wordsOf } from '@muster/outbound/issuers';
import { createSender } from '@muster/outbound/sender';
import { readConfig } from '../config.ts';
import { isSchemaCurrent } from '../database.ts';
import { listGrants } from '../operators/grants.ts';
import { listProducts, usualProduct } from '../operators/products.ts';
import { listKeys, type SigningKey } from '../operators/signing-keys.ts';
import { reading } from '../operators/transaction.ts';
import { machinesByPepper } from '../operators/trail.ts';
import { sealingBy } from '../operators/webhooks.ts';
import { loadKeys } from '../signing/signing-key.ts';
import { hasherOf } from './change.ts';
import { type Context, type LicenseCommand } from './command.ts';

interface Finding {
  readonly what: string;
  /** The verdict. `note` means that the checked part works but could be improved. */
  readonly is: 'well' | 'note' | 'wrong';
  readonly says: string;
}

const finding = (what: string, is: Finding['is'], says: string): Finding => ({ what, is, says });

type Look = (context: Context) => Promise<Finding[]>;

const lookAtSchema: Look = async ({ pool }) => [
  (await isSchemaCurrent(pool))
    ? finding('schema', 'well', 'current')
    : finding('schema', 'wrong', 'out of date; run license migrate'),
];

/** Checks that the role of the service has the rights it needs, and none to change or delete events. */
const lookAtRole: Look = async ({ databaseUrl }) => {
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
    if (row?.works !== true)
      return [finding('role', 'wrong', 'muster_licenses lacks permissions; run license migrate')];
    return row.keeps
      ? [finding('role', 'well', 'muster_licenses has the needed permissions and cannot change events')]
      : [finding('role', 'wrong', 'muster_licenses can change or delete events; revoke those permissions')];
  } finally {
    await service.end();
  }
};

const lookAtSecrets: Look = async ({ environment }) =>
  (['LICENSE_PEPPER', 'LICENSE_SEAL'] as const).map((name) =>
    environment[name]
      ? finding(name, 'well', 'set in the environment')
      : finding(
          name,
          'note',
          'is not set: a secret in the database is used instead, next to the data that it protects',
        ),
  );

const lookAtPeppers: Look = async (context) => {
  const [{ pepperId, pepperIds }, found] = await Promise.all([
    hasherOf(context),
    reading(context.pool, machinesByPepper),
  ]);
  const count = (wanted: (id: string) => boolean): number =>
    found.filter((one) => wanted(one.pepperId)).reduce((sum, { machines }) => sum + machines, 0);
  const lost = count((id) => !pepperIds.includes(id));
  const old = count((id) => pepperIds.includes(id) && id !== pepperId);
  const known = finding('machines', 'well', `${count((id) => id === pepperId)} use the current pepper`);
  if (lost > 0) {
    return [
      finding(
        'machines',
        'wrong',
        `${lost} use a pepper that is not configured, so their machines are not recognized`,
      ),
    ];
  }
  return old === 0
    ? [known]
    : [
        known,
        finding('machines', 'note', `${old} still use the old pepper; keep it until they have been updated`),
      ];
};

const lookAtKeys: Look = async ({ pool, secrets }) => {
  const [{ seals }, products, keys] = await Promise.all([
    secrets(),
    reading(pool, listProducts),
    reading(pool, (db) => listKeys(db)),
  ]);
  const ofProducts = await loadKeys(pool, seals);
  return products.map(({ name }) => {
    const own = keys.filter(({ product }) => product === name);
    return signingOf(name, own, ofProducts.get(name)?.signer?.kid);
  });
};

function signingOf(product: string, keys: readonly SigningKey[], kid: string | undefined): Finding {
  const what = product === usualProduct ? 'signing' : `signing ${product}`;
  const current = keys.find(({ state }) => state === 'current');
  if (current === undefined)
    return finding(what, 'wrong', 'no signing key is active: license signing-key new --in 0d');
  if (kid === undefined)
    return finding(
      what,
      'wrong',
      'no signing key can be decrypted with LICENSE_SEAL: correct it, or run signing-key new --in 0d',
    );
  const following = keys.filter(({ state }) => state === 'next').length;
  return kid === current.kid
    ? finding(what, 'well', `signs with ${kid}; ${following} more will follow`)
    : finding(
        what,
        'note',
        `${current.kid} should sign but cannot be decrypted with LICENSE_SEAL; ${kid} signs instead`,
      );
}

const lookAtWebhooks: Look = async ({ pool, secrets }) => {
  const sealing = sealingBy((await secrets()).seals);
  const rows = await ask(
    pool,
    sql<{ id: string; bytes: Buffer }>`select id, sealed_secret as bytes from licenses.webhook_endpoints`,
  );
  const shut = rows.filter(({ id, bytes }) => sealing.open(id, bytes) === undefined).length;
  return [
    shut === 0
      ? finding('webhooks', 'well', `${rows.length} endpoints`)
      : finding(
          'webhooks',
          'wrong',
          `${shut} receive nothing, because their secrets cannot be decrypted with LICENSE_SEAL: create new ones with webhooks/rotateSecret`,
        ),
  ];
};

const mostSkewMillis = 5_000;

const lookAtClock: Look = async ({ pool }) => {
  const before = Date.now();
  const [row] = await ask(pool, sql<{ at: string }>`select clock_timestamp() as at`);
  const skew = Math.round(new Date(row?.at ?? 0).getTime() - (before + Date.now()) / 2);
  return [
    Math.abs(skew) <= mostSkewMillis
      ? finding('clock', 'well', `the database's clock differs by ${skew} ms from this machine's`)
      : finding(
          'clock',
          'wrong',
          `the database's clock differs by ${skew} ms from this machine's, so certificates expire at the wrong time`,
        ),
  ];
};

const lookAtRedis: Look = async ({ environment }) => {
  const url = environment['REDIS_URL'];
  if (!url)
    return [finding('redis', 'note', 'REDIS_URL is not set, so each process counts attempts separately')];
  const redis = redisCheck(url);
  try {
    await redis.check.run();
    return [finding('redis', 'well', 'answers')];
  } catch {
    return [finding('redis', 'wrong', 'does not answer, so each process counts attempts separately')];
  } finally {
    redis.close();
  }
};

const lookAtEnvironment: Look = async ({ environment }) => {
  const { TRUST_PROXY: trusted } = readConfig({ ...environment });
  return [
    trusted === undefined
      ? finding(
          'proxies',
          'note',
          'TRUST_PROXY is not set: behind a load balancer all clients share one address and one limit',
        )
      : finding(
          'proxies',
          'well',
          `trusted: ${Array.isArray(trusted) ? trusted.join(', ') : `${trusted} hops`}`,
        ),
  ];
};

const lookAtSupport: Look = async ({ environment, pool }) => {
  const { operatorsIssuer: issuer, WEBHOOK_NETWORKS: networks } = readConfig({ ...environment });
  if (issuer === undefined)
    return [finding('support', 'note', 'OPERATORS_ISSUER is not set, so support signs in with a token')];
  const granted = (await reading(pool, listGrants)).filter(({ isGood }) => isGood).length;
  if (granted === 0)
    return [finding('support', 'wrong', 'no one has access there yet: license operator grant')];
  const sender = createSender({ networks });
  try {
    await openIssuer(sender, issuer);
    return [finding('support', 'well', `${issuer.name} answers, and ${granted} grants are active`)];
  } catch (error) {
    return [finding('support', 'wrong', `${issuer.issuer}: ${wordsOf(error)}`)];
  } finally {
    sender.close();
  }
};

const looks: readonly [string, Look][] = [
  ['schema', lookAtSchema],
  ['role', lookAtRole],
  ['secrets', lookAtSecrets],
  ['machines', lookAtPeppers],
  ['signing', lookAtKeys],
  ['webhooks', lookAtWebhooks],
  ['clock', lookAtClock],
  ['redis', lookAtRedis],
  ['environment', lookAtEnvironment],
  ['support', lookAtSupport],
];

const marks = { well: 'ok   ', note: 'note ', wrong: 'WRONG' } as const;

export const doctorCommand: LicenseCommand = {
  name: 'doctor',
  description: 'Check the installation for problems; the exit code is 1 if there are any',
  run: async (context) => {
    const findings: Finding[] = [];
    for (const [what, look] of looks) {
      const found = await look(context).catch((error: unknown) => [
        finding(what, 'wrong', error instanceof Error ? error.message : String(error)),
      ]);
      findings.push(...found);
    }
    return {
      json: { findings },
      lines: findings.map(({ is, what, says }) => `${marks[is]} ${what}: ${says}`),
      isBad: findings.some(({ is }) => is === 'wrong'),
    };
  },
};
