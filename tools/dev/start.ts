// npm start: starts the whole of Muster on this machine and prints the addresses. It keeps its data in .data, and
// continues with them at the next start. All services share one process; with `npm start -- --separate` each has its
// own. In addition to the variables of each service (docs/configuration.md) it reads:
//
//   PORT_BASE=4100          the first port; services take the next ones, and their metrics the ports ten above
//   COORDINATION_API_PORT=… one port; also DOCS_PORT, LICENSE_SERVICE_PORT and others, POSTGRES_PORT, REDIS_PORT
//   DATABASE_URL=…          an existing PostgreSQL instead of the included one; REDIS_URL likewise
//   MUSTER_DATA=.data       the folder of the data
//   DEMO_AGENT=off          stops the demo's agent, which otherwise works on a story of the demo from time to time
import { randomBytes } from 'node:crypto';
import { createClient, httpTransport } from '@muster/client';
import { createPool } from '@muster/driver';
import { migrate } from '@muster/migrations';
import { beginShowingLogs } from './app-log.ts';
import { type App, endAbandonedApps, findApps, programsOf, startProgram } from './apps.ts';
import { workNowAndThen } from './demo-agent.ts';
import { provideDemoLicense } from './demo-license.ts';
import { demoOwner, provideDemo } from './demo.ts';
import { readDevFile, writeDevFile, type DevFile } from './dev-file.ts';
import { claimInstance } from './instance.ts';
import { keepRunning } from './keep-running.ts';
import { renderPage } from './page.ts';
import { readPort, refuseTakenPorts, refuseTakenPortsOfApps } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { say, step } from './progress.ts';
import { findGivenRedis, startRedis } from './redis.ts';
import { filesFolder, mailFolder, makePrivate } from './repository.ts';
import { Shutdown } from './shutdown.ts';

async function start(): Promise<void> {
  let claim;
  try {
    claim = claimInstance();
  } catch (error) {
    say(messageOf(error));
    process.exit(1);
  }
  const shutdown = new Shutdown(say, () => {
    const facts = readDevFile();
    if (facts?.pid === process.pid) writeDevFile({ ...facts, pid: null });
    claim.release();
  });
  try {
    await bringUp(shutdown);
  } catch (error) {
    // After a signal, steps fail because their servers are being stopped. The shutdown ends the process.
    if (shutdown.isUnderWay) return;
    say(messageOf(error));
    await shutdown.stop();
    claim.release();
    process.exit(1);
  }
}

async function bringUp(shutdown: Shutdown): Promise<void> {
  const startedAt = new Date().toISOString();
  const apps = findApps(process.env);
  await endAbandonedApps(apps);
  await refuseTakenPortsOfApps(process.env);

  // The folder is private, because mails have sign-in links.
  makePrivate(mailFolder);
  const databaseUrl = await step('PostgreSQL', () => provideDatabase(shutdown));
  const redisUrl = await step('Redis', () => provideRedis(shutdown));
  await step('Migrations', () => migrate(databaseUrl));

  const urlOf = (name: App['name']): string | null => apps.find((app) => app.name === name)?.url ?? null;
  const baseUrl = urlOf('coordination-api');
  const gatewayUrl = urlOf('mcp-gateway');
  const licenseUrl = urlOf('license-service');
  const docsUrl = urlOf('docs');
  const signInUrl = urlOf('sign-in');
  const givenBaseUrl = process.env['BASE_URL'] || undefined;
  const consoleUrl = urlOf('console');
  const environment = {
    LOG_LEVEL: 'info',
    MAIL_FOLDER: mailFolder,
    FILES_FOLDER: filesFolder,
    // Allows webhooks to the receivers in the guides, which listen on port 3000 of this machine. Other ports
    // may belong to databases.
    WEBHOOK_NETWORKS: '127.0.0.0/8:3000',
    ...(baseUrl !== null && { BASE_URL: baseUrl, COORDINATION_API_URL: baseUrl }),
    // All services of one start share a new random MCP_GATEWAY_KEY.
    ...(gatewayUrl !== null && {
      ...{ MCP_GATEWAY_URL: gatewayUrl, MCP_GATEWAY_KEY: randomBytes(24).toString('hex') },
    }),
    ...(consoleUrl !== null && { CONSOLE_URL: consoleUrl, HOME_PATH: '/console/' }),
    ...(licenseUrl !== null && { LICENSE_URL: licenseUrl }),
    ...(docsUrl !== null && { DOCS_URL: docsUrl }),
    ...(signInUrl !== null && { SIGN_IN_URL: signInUrl, TRUST_PROXY: '127.0.0.1' }),
    // Lets MCP clients connect with only the URL, even if a client has no document that describes it.
    OAUTH_DYNAMIC_REGISTRATION: 'on',
    ...(signInUrl !== null && baseUrl !== null && { OAUTH_ISSUER: baseUrl }),
    // One click signs in, on this machine only.
    ...(givenBaseUrl === undefined && { DEMO_ACCOUNT: demoOwner.email }),
    ...process.env,
    // Some shells set HOST to the machine's name.
    HOST: '127.0.0.1',
    NODE_ENV: 'development',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
  };
  // A process has one name in traces, so each traced app needs its own.
  const isSeparate =
    process.argv.includes('--separate') || process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] !== undefined;
  await Promise.all(
    programsOf(apps, isSeparate).map((program) =>
      step(program.name, async () => shutdown.add(await startProgram(program, environment, say))),
    ),
  );

  const last = readDevFile();
  const demo =
    baseUrl === null
      ? undefined
      : await step('Demo organization', () =>
          provideDemo(databaseUrl, baseUrl, last?.tokens ?? undefined).catch((error: unknown) => {
            throw new Error(`the demo could not be made: ${messageOf(error)}`, { cause: error });
          }),
        );
  const licenseKey =
    licenseUrl === null
      ? null
      : await step('Demo license', () =>
          provideDemoLicense(databaseUrl, licenseUrl, last?.licenseKey ?? null),
        );
  const facts: DevFile = {
    consoleUrl: consoleUrl === null ? null : withPath(baseUrl, '/console/'),
    baseUrl,
    mcpUrl: withPath(gatewayUrl && baseUrl, '/api/mcp'),
    licenseUrl,
    licenseKey,
    signInUrl: withPath(signInUrl && baseUrl, '/sign-in'),
    docsUrl: urlOf('docs'),
    workerUrl: urlOf('delivery-worker'),
    databaseUrl,
    redisUrl,
    // Tokens of another database are not stored.
    ...(demo ?? { orgSlug: null, projectKey: null, tokens: null }),
    pid: process.pid,
    startedAt,
  };
  if (shutdown.isUnderWay) return;
  writeDevFile(facts);
  process.stdout.write(renderPage(facts));
  beginShowingLogs();
  if (demo?.projectKey != null && baseUrl !== null && process.env['DEMO_AGENT'] !== 'off')
    await shutdown.add(startDemoAgent(baseUrl, demo.tokens.agent, demo.projectKey));
}

function startDemoAgent(baseUrl: string, token: string, projectKey: string) {
  const ending = new AbortController();
  const client = createClient(httpTransport({ baseUrl, token }));
  const over = workNowAndThen(client, { projectKey, signal: ending.signal }).catch((error: unknown) => {
    say(`the demo's agent rests (${messageOf(error)}); all else runs on`);
  });
  return {
    stop: async () => {
      ending.abort();
      await over;
    },
    kill: () => ending.abort(),
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function provideDatabase(shutdown: Shutdown): Promise<string> {
  const given = process.env['DATABASE_URL'];
  if (given !== undefined && given !== '') {
    await refuseAbsentDatabase(given);
    return given;
  }
  let port = readPort('POSTGRES_PORT', process.env);
  if (port !== undefined) await refuseTakenPorts([{ name: 'PostgreSQL', port, variable: 'POSTGRES_PORT' }]);
  const kept = await keepRunning(
    'PostgreSQL',
    async () => {
      const postgres = await startPostgres({ durable: true, ...(port !== undefined && { port }) });
      // A restarted server needs the same port, because the apps know the address.
      port = postgres.port;
      return postgres;
    },
    say,
  );
  await shutdown.add(kept);
  return kept.current().url;
}

async function refuseAbsentDatabase(url: string): Promise<void> {
  const pool = createPool({ url, role: null, max: 1 });
  try {
    await pool.query('select');
  } catch (error) {
    throw new Error(`the PostgreSQL that DATABASE_URL names cannot be used: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await pool.end();
  }
}

async function provideRedis(shutdown: Shutdown): Promise<string> {
  const given = await findGivenRedis();
  if (given !== undefined) return given;
  let port = readPort('REDIS_PORT', process.env);
  if (port !== undefined) await refuseTakenPorts([{ name: 'Redis', port, variable: 'REDIS_PORT' }]);
  const kept = await keepRunning(
    'Redis',
    async () => {
      const redis = await startRedis({ durable: true, say, ...(port !== undefined && { port }) });
      port = redis.port;
      return redis;
    },
    say,
  );
  await shutdown.add(kept);
  return kept.current().url;
}

function withPath(url: string | null, suffix: string): string | null {
  return url === null ? null : `${url}${suffix}`;
}

await start();
