// npm run images: builds every image of the Dockerfile with podman and buildah, which need no Docker daemon.
// It runs the tour on the Helm chart's pods, if Helm is installed, then on docker-compose.yml, which Docker
// Compose starts. The command checks the security settings of both, and does one upgrade under load. Base images
// are pulled, or built from Debian if no registry can be reached. It needs Linux and root, and installs missing
// programs from Debian or Ubuntu.
// Images and volumes stay in .data/images, separate from those of this machine.
//
//   --keep   leaves everything running for inspection
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findFreePort } from '@muster/testing/ports';
import { readBoardFile } from '@muster/import-files/board-file';
import { exitCodeOf, repositoryRoot } from '@muster/tools';
import { helm } from '../../../deploy/chart.ts';
import { readCompose } from '../../../deploy/compose.ts';
import { programs } from '../../../deploy/dockerfile.ts';
import { check, type Check } from '../../tour/check.ts';
import { type Instance } from '../../tour/instance.ts';
import { spendAgentDay } from '../../tour/mcp/day.ts';
import { runTourDay } from '../../tour/morning.ts';
import { show, showCheck } from '../../tour/show.ts';
import { baseImages, buildArguments, npmSettings, provideBase } from './bases.ts';
import { runChart } from './chart.ts';
import { type Engine, startEngine } from './engine.ts';
import { checkHardening } from './hardening.ts';
import { install, type ComposeInstallation, settings } from './installation.ts';
import { upgradeUnderCalls, versionLabel } from './upgrade.ts';

async function timed<T>(name: string, work: () => Promise<T>, lineOf: (value: T) => string): Promise<T> {
  const began = performance.now();
  const value = await work();
  const seconds = `${((performance.now() - began) / 1_000).toFixed(1)} s`;
  show(`  ${name.padEnd(44)}${seconds.padStart(8)}   ${lineOf(value)}`);
  return value;
}

/** Builds the image and returns its size in MB as the engine reports it. */
async function build(
  engine: Engine,
  program: string,
  version: string,
  npm: readonly string[],
): Promise<string> {
  const image = `docker.io/muster/${program}:${version}`;
  await engine.run(
    'buildah',
    ...[...buildArguments, '--pull-never', ...npm],
    ...['--target', program, '--build-arg', `VERSION=${version}`, '--tag', image, repositoryRoot],
  );
  const bytes = await engine.run('podman', 'image', 'inspect', '--format', '{{.Size}}', image);
  return `${Math.round(Number(bytes) / 1_000_000)} MB`;
}

/** Creates the same program under a second version, which replaces the first one in the upgrade. */
async function nextVersion(engine: Engine, program: string): Promise<void> {
  const image = (version: string): string => `docker.io/muster/${program}:${version}`;
  const container = await engine.run('buildah', 'from', '--pull-never', image('one'));
  await engine.run('buildah', 'config', '--label', `${versionLabel}=two`, container);
  await engine.run('buildah', 'commit', '--quiet', '--rm', '--format', 'docker', container, image('two'));
}

async function instanceOf(
  engine: Engine,
  { baseUrl, variables, containers }: ComposeInstallation,
  mailFolder: string,
): Promise<Instance> {
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{end}}';
  const postgres = (await containers()).get('postgres') ?? '';
  const database = (await engine.run('podman', 'inspect', '--format', format, postgres)).trim();
  return {
    ...{ baseUrl, mcpUrl: `${baseUrl}/api/mcp`, mailFolder, description: 'in containers' },
    databaseUrl: `postgres://muster:${variables['POSTGRES_PASSWORD']}@${database}:5432/muster`,
    tail: () => ['its log is in: podman logs'],
    stop: () => Promise.resolve(),
  };
}

/** Requests each address of the edge and checks the answer. */
async function checkEdge({ baseUrl, docsUrl, licenseUrl }: ComposeInstallation): Promise<Check> {
  const edge = check(
    'the edge leads to every service',
    () => 'API, console, sign-in, gateway, docs, licenses',
  );
  const pages: readonly (readonly [url: string, status: number])[] = [
    [`${baseUrl}/readyz`, 200],
    [`${baseUrl}/`, 200],
    [`${baseUrl}/sign-in`, 200],
    [`${baseUrl}/openapi.json`, 200],
    [`${baseUrl}/api/mcp`, 401],
    [`${docsUrl}/`, 200],
    [`${licenseUrl}/.well-known/license-keys.json`, 200],
  ];
  for (const [url, status] of pages) edge.same((await fetch(url)).status, status, url);
  return edge;
}

/** Checks the edge, and runs the tour and a day of agents. */
async function tour(instance: Instance, installation: ComposeInstallation): Promise<readonly Check[]> {
  const board = await readBoardFile(path.join(repositoryRoot, 'tools/system-tests/tour/board.json'));
  return [
    await checkEdge(installation),
    ...(await runTourDay(instance, board, `tour-${Date.now().toString(36)}`)),
    ...(await spendAgentDay(instance, `day-${Date.now().toString(36)}`)),
  ];
}

async function goThrough(engine: Engine, installation: ComposeInstallation): Promise<readonly Check[]> {
  const { services } = await readCompose('docker-compose.yml', installation.variables);
  const own = Object.entries(services)
    .filter(([, { build: made, restart }]) => made !== undefined && restart !== 'no')
    .map(([name]) => name);
  await installation.startServers('one');
  await timed(
    'up, and each says that it is well',
    () => installation.compose('one', 'up', '--detach', '--wait'),
    () => '',
  );
  const format = ['--format', '{{.Mountpoint}}', 'muster-images_mail'];
  const mailFolder = await engine.run('podman', 'volume', 'inspect', ...format);
  const instance = await instanceOf(engine, installation, mailFolder);
  return [
    ...(await checkHardening(engine, installation, own)),
    ...(await tour(instance, installation)),
    ...(await upgradeUnderCalls(engine, installation, instance, 'two', own)),
  ];
}

/** The exit codes that shells use for programs ended by a signal. */
const codes = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/**
 * Cleans up containers and mounts when a signal ends the command. A terminal and npm both forward a signal,
 * so a second one is ignored.
 */
function endOnSignals(engine: Engine): { isUnderWay: boolean } {
  const ending = { isUnderWay: false };
  for (const [signal, code] of Object.entries(codes))
    process.on(signal, () => {
      if (ending.isUnderWay) return;
      ending.isUnderWay = true;
      show('Stopping: containers, mounts and builds that are not finished are removed');
      void engine.stop(false).then(
        () => process.exit(code),
        (error: unknown) => {
          show(String(error));
          process.exit(1);
        },
      );
    });
  return ending;
}

async function run(): Promise<boolean> {
  const { values } = parseArgs({ options: { keep: { type: 'boolean', default: false } } });
  const engine = await startEngine(show);
  const ending = endOnSignals(engine);
  let isKept = false;
  try {
    show(`Muster's images, by podman ${engine.version}`);
    const variables = await settings([await findFreePort(), await findFreePort(), await findFreePort()]);
    for (const image of await baseImages(variables))
      await timed(
        image,
        () => provideBase(engine, image),
        (how) => how,
      );
    const npm = await npmSettings(engine);
    for (const program of programs)
      await timed(
        `muster/${program}`,
        () => build(engine, program, 'one', npm),
        (size) => size,
      );
    for (const program of programs) await nextVersion(engine, program);
    const installation = await install(engine, variables);
    try {
      show('');
      show(helm === undefined ? 'Helm is missing, so the chart is not run' : 'The Helm chart, in pods');
      const tourChart = async (mailFolder: string): Promise<readonly Check[]> =>
        tour(await instanceOf(engine, installation, mailFolder), installation);
      const ofChart = helm === undefined ? [] : await runChart(engine, installation, 'one', tourChart);
      for (const one of ofChart) showCheck(one);
      show('');
      show('docker-compose.yml');
      const ofCompose = await goThrough(engine, installation);
      for (const one of ofCompose) showCheck(one);
      const checks = [...ofChart, ...ofCompose];
      const failed = checks.filter(({ holds }) => !holds).length;
      show('');
      show(`${checks.length - failed} of ${checks.length} checks hold`);
      return failed === 0;
    } finally {
      isKept = values.keep;
      if (!ending.isUnderWay) await installation.end(isKept);
      if (isKept) show(`It runs at ${installation.baseUrl} until the next npm run images.`);
    }
  } catch (error) {
    // Programs that the cleanup ended fail here. The process exits when the cleanup is complete.
    if (ending.isUnderWay) await new Promise(() => undefined);
    throw error;
  } finally {
    await engine.stop(isKept);
  }
}

process.exitCode = await exitCodeOf(run());
