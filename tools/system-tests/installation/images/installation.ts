/** Runs docker-compose.yml by Docker Compose on podman. */
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { repositoryRoot } from '@muster/tools';
import { readEnvironmentFile } from '../../../deploy/apps.ts';
import { readCompose } from '../../../deploy/compose.ts';
import { makeOf } from './bases.ts';
import { type Engine, imagesFolder } from './engine.ts';

const project = 'muster-images';
export const networks = [`${project}_front`, `${project}_back`] as const;

export interface ComposeInstallation {
  /** Runs `docker compose` with the given arguments. */
  readonly compose: (version: string, ...args: readonly string[]) => Promise<string>;
  /** Starts Postgres, Redis and the edge. */
  readonly startServers: (version: string) => Promise<void>;
  /** Returns the containers that run, by service. */
  readonly containers: () => Promise<ReadonlyMap<string, string>>;
  /** The address of the API at the edge. */
  readonly baseUrl: string;
  readonly docsUrl: string;
  readonly licenseUrl: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Removes containers, networks and volumes, unless `isKept` is true. */
  readonly end: (isKept: boolean) => Promise<void>;
}

/**
 * Finds Compose version 2 or later, as the documentation requires. Uses Debian's version if this machine has
 * none.
 */
async function findCompose(engine: Engine): Promise<readonly string[]> {
  for (const words of [['docker', 'compose'], ['docker-compose']]) {
    const [program = '', ...rest] = words;
    const version = await engine.run(program, ...rest, 'version', '--short').catch(() => '');
    if (/^v?[2-9]/.test(version)) return words;
  }
  const program = path.join(imagesFolder, 'docker-compose');
  if (!existsSync(program)) {
    const image = 'localhost/compose:latest';
    await makeOf(engine, 'compose', image);
    const container = await engine.run('podman', 'create', image, 'true');
    await engine.run('podman', 'cp', `${container}:/usr/libexec/docker/cli-plugins/docker-compose`, program);
    await engine.run('podman', 'rm', container);
  }
  return [program];
}

/** Returns values for all variables of .env.example. */
export async function settings(ports: readonly [number, number, number]): Promise<Record<string, string>> {
  const example = await readEnvironmentFile('.env.example');
  const secrets = Object.keys(example).filter((name) =>
    /_PASSWORD$|_PEPPER$|_SEAL$|^SECRETS_KEY$|^MCP_GATEWAY_KEY$/.test(name),
  );
  const [api, docs, license] = ports;
  return {
    ...example,
    ...Object.fromEntries(secrets.map((name) => [name, randomBytes(24).toString('hex')])),
    ...{ API_PORT: `${api}`, DOCS_PORT: `${docs}`, LICENSE_PORT: `${license}` },
    BASE_URL: `http://localhost:${api}`,
    DOCS_URL: `http://localhost:${docs}`,
    LICENSE_URL: `http://localhost:${license}`,
    OAUTH_ISSUER: `http://localhost:${api}`,
  };
}

/** Runs the health checks of starting containers. Docker does this by itself, podman needs systemd for it. */
function createHealthCheck(engine: Engine): () => Promise<void> {
  let isOver = engine.hasTimers;
  const asking = (async () => {
    while (!isOver) {
      const ids = await engine.run('podman', 'ps', '--quiet', '--filter', 'health=starting').catch(() => '');
      for (const id of ids.split('\n').filter((line) => line !== ''))
        await engine.run('podman', 'healthcheck', 'run', id).catch(() => undefined);
      await wait(500);
    }
  })();
  return async () => {
    isOver = true;
    await asking;
  };
}

/** Returns the last log lines of the containers that exited with an error. */
async function recentLogs(engine: Engine): Promise<string> {
  const format = '{{.ExitCode}} {{.Names}}';
  const ended = await engine.run('podman', 'ps', '--all', '--filter', 'status=exited', '--format', format);
  const failed = ended.split('\n').filter((line) => /^[1-9]/.test(line));
  const logs = failed.map(async (line) => {
    const name = line.split(' ')[1] ?? '';
    return `${name}: ${await engine.run('podman', 'logs', '--tail', '5', name)}`;
  });
  return (await Promise.all(logs)).join('\n');
}

/**
 * Makes the bridge of a network announce its MAC address when it changes. Podman sets none, so the address is that of
 * one of the connected containers. When that container ends, the others would send their DNS queries to the old address
 * for up to a minute.
 */
async function announceAddress(engine: Engine, network: string): Promise<void> {
  const format = ['--format', '{{.NetworkInterface}}'];
  const bridge = await engine.run('podman', 'network', 'inspect', ...format, network);
  await writeFile(`/proc/sys/net/ipv4/conf/${bridge}/arp_notify`, '1');
}

export async function install(
  engine: Engine,
  variables: Readonly<Record<string, string>>,
): Promise<ComposeInstallation> {
  const environmentFile = path.join(imagesFolder, 'compose.env');
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  await writeFile(environmentFile, `${lines.join('\n')}\n`, { mode: 0o600 });
  const { services } = await readCompose('docker-compose.yml', variables);
  // Podman has another log driver than Docker.
  const logging = { driver: 'k8s-file' };
  const overrides = Object.fromEntries(Object.keys(services).map((name) => [name, { logging }]));
  const override = path.join(imagesFolder, 'podman.json');
  await writeFile(override, JSON.stringify({ services: overrides }));
  const words = await findCompose(engine);
  const compose = (version: string, ...args: readonly string[]): Promise<string> => {
    const files = ['-f', path.join(repositoryRoot, 'docker-compose.yml'), '-f', override];
    const place = ['--project-directory', repositoryRoot, '--project-name', project];
    const run = engine.run(
      'env',
      ...[`DOCKER_HOST=${engine.socket}`, `MUSTER_VERSION=${version}`, ...words, ...place],
      ...['--env-file', environmentFile, ...files, ...args],
    );
    return run.catch(async (error: unknown) => {
      const said = await recentLogs(engine);
      throw new Error(`${String(error)}\n${said}`, { cause: error });
    });
  };
  const stopAsking = createHealthCheck(engine);
  return {
    compose,
    startServers: async (version) => {
      await compose(version, 'up', '--detach', '--wait', 'postgres', 'redis', 'edge');
      for (const network of networks) await announceAddress(engine, network);
    },
    containers: async () => {
      const format = '{{index .Labels "com.docker.compose.service"}} {{.ID}}';
      const filter = `label=com.docker.compose.project=${project}`;
      const listed = await engine.run('podman', 'ps', '--filter', filter, '--format', format);
      return new Map(listed.split('\n').map((line) => line.split(' ') as [string, string]));
    },
    baseUrl: variables['BASE_URL'] ?? '',
    docsUrl: variables['DOCS_URL'] ?? '',
    licenseUrl: variables['LICENSE_URL'] ?? '',
    variables,
    end: async (isKept) => {
      await stopAsking();
      if (!isKept) await compose('latest', 'down', '--volumes', '--timeout', '30');
    },
  };
}
