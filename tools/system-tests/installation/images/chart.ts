/**
 * Runs the manifests that Helm renders from the chart. Podman runs the pods: each Deployment in as many copies as
 * rendered, with its variables, Secrets, security context and memory limit. Podman has no objects for the other kinds:
 * a Service becomes a DNS name of its pods, and the edge of the compose file serves the rules of the Ingress. Network
 * policies, autoscaling, disruption budgets and the schedule of the CronJob are not applied.
 */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { type IDeployment } from 'kubernetes-models/apps/v1';
import { type ICronJob, type IJob } from 'kubernetes-models/batch/v1';
import { type IIngress } from 'kubernetes-models/networking.k8s.io/v1';
import { type IConfigMap, type IPodTemplateSpec, type IService } from 'kubernetes-models/v1';
import { startMailServer } from '@muster/testing/mail-server';
import { repositoryRoot } from '@muster/tools';
import { readEnvironmentFile } from '../../../deploy/apps.ts';
import { renderChart } from '../../../deploy/chart.ts';
import { readCompose } from '../../../deploy/compose.ts';
import { type Manifest } from '../../../deploy/manifests.ts';
import { check, type Check } from '../../tour/check.ts';
import { type Engine, imagesFolder } from './engine.ts';
import { checkHardening } from './hardening.ts';
import { type ComposeInstallation, networks } from './installation.ts';
import { checkAndStop, type Pod, runToEnd, startPod, urlOf, waitUntilReady } from './pods.ts';

const secretsFolder = 'tools/deploy/kubernetes/secrets';
const hosts = { muster: 'muster.test', docs: 'docs.muster.test', licenses: 'licenses.muster.test' };

async function render(version: string, trustProxy: string): Promise<Manifest[]> {
  const file = path.join(imagesFolder, 'values.json');
  const image = { registry: 'docker.io/muster', tag: version, pullPolicy: 'Never' };
  await writeFile(file, JSON.stringify({ image, hosts, trustProxy }));
  return renderChart('--values', file);
}

const ofKind = <Kind>(manifests: readonly Manifest[], name: string): Kind[] =>
  manifests.filter(({ kind }) => kind === name) as Kind[];

/** Creates the Secrets with the names of the examples, and the values that Compose gives to the same program. */
async function createSecrets(engine: Engine, variables: ComposeInstallation['variables']): Promise<void> {
  const { services } = await readCompose('docker-compose.yml', variables);
  for (const file of await readdir(path.join(repositoryRoot, secretsFolder))) {
    const name = file.replace('.env.example', '');
    const values = Object.keys(await readEnvironmentFile(`${secretsFolder}/${file}`)).map((key) => [
      key,
      Buffer.from(services[name]?.environment?.[key] ?? '').toString('base64'),
    ]);
    const place = path.join(imagesFolder, 'secret.json');
    await writeFile(place, JSON.stringify(Object.fromEntries(values)), { mode: 0o600 });
    await engine.run('podman', 'secret', 'create', name, place);
  }
}

/** Runs the jobs one after the other, as Helm runs hooks. */
async function runJobs(engine: Engine, manifests: readonly Manifest[]): Promise<void> {
  for (const { metadata, spec } of ofKind<IJob>(manifests, 'Job'))
    if (spec !== undefined) await runToEnd(engine, metadata?.name ?? '', spec.template);
}

/** Starts the pods of all Deployments, and waits until each is ready. */
async function startPods(engine: Engine, manifests: readonly Manifest[]): Promise<readonly Pod[]> {
  const configMaps = ofKind<IConfigMap>(manifests, 'ConfigMap');
  const scalers = ofKind<IHorizontalPodAutoscaler>(manifests, 'HorizontalPodAutoscaler');
  const aliasesOf = ({ metadata }: IPodTemplateSpec): string[] =>
    ofKind<IService>(manifests, 'Service')
      .filter(({ spec }) =>
        Object.entries(spec?.selector ?? {}).every(([key, value]) => metadata?.labels?.[key] === value),
      )
      .map((service) => service.metadata?.name ?? '');
  const pods: Pod[] = [];
  for (const { metadata, spec } of ofKind<IDeployment>(manifests, 'Deployment')) {
    if (spec === undefined) continue;
    const scaler = scalers.find((one) => one.spec.scaleTargetRef.name === metadata?.name);
    const replicas = spec.replicas ?? scaler?.spec.minReplicas ?? 1;
    const aliases = aliasesOf(spec.template);
    for (let copy = 1; copy <= replicas; copy += 1)
      pods.push(await startPod(engine, `${metadata?.name}-${copy}`, spec.template, configMaps, aliases));
  }
  await Promise.all(pods.map((pod) => waitUntilReady(engine, pod)));
  return pods;
}

/**
 * Makes the edge serve the rules of the Ingress: the first host at the port of the API, the others at the ports of the
 * docs and licenses. Caddy spreads the calls over the addresses of a Service's name.
 */
async function serveIngress(
  engine: Engine,
  { containers }: ComposeInstallation,
  manifests: readonly Manifest[],
): Promise<void> {
  const services = ofKind<IService>(manifests, 'Service');
  const rules = ofKind<IIngress>(manifests, 'Ingress').flatMap(({ spec }) => spec?.rules ?? []);
  const sites = rules.map(({ host, http }, index) => {
    const routes = (http?.paths ?? []).map(({ path: prefix, pathType, backend: { service } }) => {
      const { spec } = services.find(({ metadata }) => metadata?.name === service?.name) ?? {};
      const { port } = spec?.ports?.find(({ name }) => name === service?.port?.name) ?? {};
      return `handle ${prefix}${pathType === 'Exact' ? '' : '*'} {
        reverse_proxy {
          dynamic a ${service?.name} ${port}
          header_up Host ${host}
          header_up X-Forwarded-Proto https
        }
      }`;
    });
    return `http://:${8_080 + index} {\n${routes.join('\n')}\n}\n`;
  });
  const file = path.join(imagesFolder, 'Caddyfile');
  await writeFile(file, sites.join(''));
  const edge = (await containers()).get('edge') ?? '';
  await engine.run('podman', 'cp', file, `${edge}:/data/Caddyfile`);
  const reload = ['caddy', 'reload', '--adapter', 'caddyfile', '--config', '/data/Caddyfile'];
  await engine.run('podman', 'exec', edge, ...reload);
}

/** The programs that count calls or jobs. */
const counting = ['coordination-api', 'mcp-gateway', 'delivery-worker'];

/** Checks the pods after they were used, and stops them. */
async function checkPods(
  engine: Engine,
  manifests: readonly Manifest[],
  pods: readonly Pod[],
): Promise<readonly Check[]> {
  const shares = check('calls and jobs reach every copy of a program', () => counting.join(', '));
  for (const pod of pods.filter(({ container }) => counting.includes(container.name))) {
    const { 'prometheus.io/port': port, 'prometheus.io/path': page } =
      pod.template.metadata?.annotations ?? {};
    const metrics = await (await fetch(`${await urlOf(engine, pod, port)}${page}`)).text();
    const isUsed = /^muster_(operation|job)s_total\{.*\} [1-9]/m.test(metrics);
    shares.that(isUsed, () => `${pod.name} answered no call and did no job`);
  }
  const jobs = check('every job also runs while the services run', () => '');
  const runAll = async (): Promise<void> => {
    await runJobs(engine, manifests);
    for (const { metadata, spec } of ofKind<ICronJob>(manifests, 'CronJob'))
      await runToEnd(engine, metadata?.name ?? '', spec.jobTemplate.spec?.template ?? {});
  };
  await runAll().catch((error: unknown) => {
    jobs.fail(String(error));
  });
  const pace = check('each pod stays well, and ends within its grace period', () => `${pods.length} pods`);
  await Promise.all(pods.map((pod) => checkAndStop(engine, pod, pace)));
  return [shares, jobs, pace];
}

/** Installs the chart beside Postgres and Redis of the compose file, and calls `tour` while it runs. */
export async function runChart(
  engine: Engine,
  installation: ComposeInstallation,
  version: string,
  tour: (mailFolder: string) => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  const { compose, startServers, variables } = installation;
  await startServers(version);
  const format = '{{range .Subnets}}{{.Subnet}} {{.Gateway}}{{end}}';
  const front = await engine.run('podman', 'network', 'inspect', '--format', format, networks[0]);
  const [subnet = '', gateway = ''] = front.split(' ');
  const mailFolder = path.join(imagesFolder, 'mail');
  await mkdir(mailFolder, { recursive: true });
  const mails = await startMailServer(
    (mail, to) => writeFile(path.join(mailFolder, `${Date.now()}-${to}.eml`), mail),
    gateway,
  );
  try {
    const manifests = await render(version, subnet);
    await createSecrets(engine, { ...variables, SMTP_URL: mails.url });
    await runJobs(engine, manifests);
    const pods = await startPods(engine, manifests);
    await serveIngress(engine, installation, manifests);
    const containers = new Map(pods.map(({ name, id }) => [name, id]));
    const running = { containers: () => Promise.resolve(containers) };
    return [
      ...(await checkHardening(engine, running, [...containers.keys()])),
      ...(await tour(mailFolder)),
      ...(await checkPods(engine, manifests, pods)),
    ];
  } finally {
    await mails.close();
    await engine.run('podman', 'pod', 'stop', '--all', '--time', '35');
    await engine.run('podman', 'pod', 'rm', '--all', '--force');
    await compose(version, 'down', '--volumes');
  }
}
