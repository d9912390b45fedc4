// The bare license server: Fastify and pg with one statement for each path. STEP selects how many steps of an
// answer it does (license-steps.ts). licenses.ts forks this program.
import { generateKeyPairSync, hash, sign } from 'node:crypto';
import { createServer } from 'node:http';
import { type AddressInfo } from 'node:net';
import { openRedis } from '@muster/redis';
import { fastify, type FastifyReply } from 'fastify';
import pg from 'pg';
import { doesSteps, metrics, serve } from './bare-server.ts';
import { stepNames } from './license-steps.ts';

const hasStep = doesSteps(stepNames);

const state = `case when status <> 'active' then status when expires_at <= clock_timestamp() then 'expired'
  when machine_hash = sha256($2::text::bytea) then 'active' when machine_hash is not null then 'other_machine'
  else 'unactivated' end as state`;

const found = 'from bare.licenses where key_hash = sha256($1::text::bytea)';

const activate = `with l as materialized (select *, ${state} ${found} for no key update),
  u as (update bare.licenses b set machine_hash = sha256($2::text::bytea), last_seen_at = clock_timestamp(),
      expires_at = coalesce(l.expires_at, clock_timestamp() + make_interval(secs => l.duration_seconds)),
      bound_at = coalesce(l.bound_at, clock_timestamp())
    from l where b.id = l.id and l.state in ('active', 'unactivated') returning b.expires_at)
  select l.plan, l.state, u.expires_at as "expiresAt" from l left join u on true`;

const check = `select plan, ${state}, expires_at as "expiresAt" ${found}`;

/** The FROM and WHERE clauses for a license that may have several machines. */
const machineOf = (license: string): string =>
  `bare.machines m where m.license_id = ${license}.id and m.released_at is null`;

const activateMachine = `with l as materialized (select * ${found} for no key update),
  m as (insert into bare.machines as m
      (license_id, slot, machine_hash, pepper_id, machine_hint, bound_at, last_seen_at, offline_until)
    select id, 1, sha256($2::text::bytea), 'bare', '…', clock_timestamp(), clock_timestamp(), clock_timestamp() + interval '7 days'
    from l where status = 'active' and (expires_at is null or expires_at > clock_timestamp())
    on conflict (license_id, slot) do update set last_seen_at = excluded.last_seen_at, offline_until = excluded.offline_until
      where m.machine_hash = excluded.machine_hash returning license_id, offline_until),
  u as (update bare.licenses b set last_seen_at = clock_timestamp(), offline_until = m.offline_until,
      expires_at = coalesce(l.expires_at, clock_timestamp() + make_interval(secs => l.duration_seconds))
    from l join m on m.license_id = l.id where b.id = l.id returning b.expires_at)
  select l.plan, l.status as state, u.expires_at as "expiresAt" from l left join u on true`;

const checkMachine = `select plan, status as state, expires_at as "expiresAt", (select count(*)::int from ${machineOf('licenses')}) as used,
  exists (select from ${machineOf('licenses')} and m.machine_hash = sha256($2::text::bytea)) as holder ${found}`;

interface ActivationBody {
  readonly licenseKey: string;
  readonly machineId: string;
}

const constant = { plan: 'bench', state: 'active', expiresAt: '2027-01-01T00:00:00.000Z' };

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL'],
  max: Number(process.env['DATABASE_POOL']),
  // Keeps idle connections open, because connecting is not part of the measurement.
  idleTimeoutMillis: 0,
});
const run = async (
  name: string,
  text: string,
  { licenseKey, machineId }: ActivationBody,
): Promise<unknown> => {
  if (!hasStep('statement')) return constant;
  return (await pool.query({ name, text, values: [licenseKey, machineId] })).rows[0];
};

const redis = hasStep('counted')
  ? openRedis(process.env['REDIS_URL'] ?? '', { waitsWhileUnreachable: true })
  : undefined;
let counting: (() => void)[] = [];
/** Sends one command for all attempts of one turn of the event loop, which is the minimum. */
const count = (): Promise<void> =>
  new Promise((resolve) => {
    if (redis === undefined) {
      resolve();
      return;
    }
    if (counting.length === 0)
      setImmediate(() => {
        const counted = counting;
        counting = [];
        void redis.incrby('attempts', counted.length).then(() => {
          for (const done of counted) done();
        });
      });
    counting.push(resolve);
  });

const { privateKey } = generateKeyPairSync('ed25519');
const signed = (text: string): string => sign(null, Buffer.from(text), privateKey).toString('base64');

/** A constant text of the length of the answers that the service signs. */
const base = 'x'.repeat(420);

function send(reply: FastifyReply, answer: unknown, isActivation: boolean): FastifyReply {
  const body = JSON.stringify(answer);
  reply.header('content-type', 'application/json; charset=utf-8');
  if (hasStep('signed')) {
    if (isActivation) reply.header('license-certificate', `${base.slice(0, 300)}.${signed(body)}`);
    const digest = `sha-256=:${hash('sha256', body, 'base64')}:`;
    reply.headers({
      'content-digest': digest,
      signature: `license=:${signed(base + digest)}:`,
      'signature-input': base.slice(0, 200),
    });
  }
  return reply.send(body);
}

function startHttp(): Promise<string> {
  const body = JSON.stringify(constant);
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/metrics') response.end(metrics());
      else response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end(body);
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

function startFastify(): Promise<string> {
  const app = fastify();
  app.post('/api/activate', async (request, reply) => {
    await count();
    const license = await run(
      'activate',
      hasStep('machines') ? activateMachine : activate,
      request.body as ActivationBody,
    );
    return send(reply, { success: true, license }, true);
  });
  app.get('/api/activate/check', async (request, reply) => {
    await count();
    return send(
      reply,
      await run('check', hasStep('machines') ? checkMachine : check, request.query as ActivationBody),
      false,
    );
  });
  app.get('/metrics', metrics);
  return app.listen({ host: '127.0.0.1', port: 0 });
}

serve(await (hasStep('fastify') ? startFastify() : startHttp()));
