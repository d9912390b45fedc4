/** Compares the Kubernetes manifests with Kubernetes' own schemas, with the apps, and with each other. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { createLogger, createService, internalError, stopTimeoutMillis } from '@muster/http';
import { bulkBodyLimitBytes } from '@muster/contract';
import { type IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import { type IDeployment } from 'kubernetes-models/apps/v1';
import { type ICronJob, type IJob } from 'kubernetes-models/batch/v1';
import { type IIngress, type INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { type IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { type IConfigMap, type IService } from 'kubernetes-models/v1';
import { type IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import { parse } from 'yaml';
import { metricsPortOf, portOfApp, repositoryRoot } from '@muster/tools';
import { appNames, configOf, type Environment, innerAddresses, readEnvironmentFile } from './apps.ts';
import { lastOf, stages, wordsOf } from './dockerfile.ts';
import { type Manifest, readFolder, typeFaults, validate } from './manifests.ts';

const services = await readFolder('services');
const migrations = await readFolder('migrations');
const queueDepth = await readFolder('queue-depth');
const overlays = [await readFolder('example/services'), await readFolder('example/migrations')];
const folders = [services, migrations, queueDepth, ...overlays];
const manifests = folders.flatMap((folder) => folder.manifests);
const secretsFolder = 'tools/deploy/kubernetes/secrets';
const secretNames = (await readdir(path.join(repositoryRoot, secretsFolder))).map((file) =>
  file.replace('.env.example', ''),
);

const ofKind = (kind: string): unknown[] => manifests.filter((one) => one.kind === kind);
const named = (kind: string, name: string): unknown =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name);

const deployments = ofKind('Deployment') as IDeployment[];
const jobs = ofKind('Job') as IJob[];
const cronJobs = ofKind('CronJob') as ICronJob[];
const timed = cronJobs.map(({ metadata, spec }) => ({ metadata, spec: spec.jobTemplate.spec }));
const pods = [...deployments, ...jobs, ...timed].map(({ metadata, spec }) => ({
  name: metadata?.name ?? '',
  labels: spec?.template.metadata?.labels ?? {},
  ...{ spec: spec?.template.spec, container: spec?.template.spec?.containers[0] },
}));
type Pod = (typeof pods)[number];
const podOf = (app: string): Pod | undefined => pods.find(({ name }) => name === app);

const secretOf = (name: string): Promise<Environment> =>
  readEnvironmentFile(`${secretsFolder}/${name}.env.example`);

/** Returns the container's environment, with the example's secrets. */
async function environmentOf(pod: Pod | undefined): Promise<Environment> {
  const parts = (pod?.container?.envFrom ?? []).map(async ({ configMapRef, secretRef }) =>
    secretRef?.name === undefined
      ? ((named('ConfigMap', configMapRef?.name ?? '') as IConfigMap | undefined)?.data ?? {})
      : secretOf(secretRef.name),
  );
  return Object.assign({}, ...(await Promise.all(parts))) as Environment;
}

describe('every manifest', () => {
  it.each(manifests.map((one): [string, Manifest] => [`${one.kind} ${one.metadata.name}`, one]))(
    '%s is one',
    (_name, manifest) => validate(manifest),
  );

  it('has no field that Kubernetes would not know', async () => {
    expect(await typeFaults(manifests)).toEqual([]);
  });

  it('is reached from its kustomization, and nothing else is', () => {
    for (const { name, kustomization, files } of folders) {
      const local = kustomization.resources.filter((resource) => resource.endsWith('.yaml'));
      expect({ name, files: local.toSorted() }).toEqual({ name, files });
      const others = [...kustomization.resources, ...(kustomization.components ?? [])]
        .filter((resource) => !resource.endsWith('.yaml'))
        .map((resource) => path.join(name, resource));
      expect(folders.map((folder) => folder.name)).toEqual(expect.arrayContaining(others));
    }
  });
});

it('takes every image from the Dockerfile, and from where the example says', () => {
  const imagesIn = (some: readonly Manifest[]) =>
    pods
      .filter(({ name }) => some.some(({ metadata }) => metadata.name === name))
      .map(({ container }) => container?.image);
  for (const [index, { manifests: some }] of [services, migrations].entries()) {
    const images = new Set(imagesIn(some));
    expect(new Set(overlays[index]?.kustomization.images?.map(({ name }) => name))).toEqual(images);
    for (const image of images) expect(stages.map(({ name }) => `muster/${name}`)).toContain(image);
  }
});

it('has every address and network that is the reader’s own in the example', () => {
  const isOwn = ([key, value]: [string, string]): boolean =>
    key === 'TRUST_PROXY' || value.includes('muster.example.com');
  const keysOf = (some: readonly Manifest[], isMeant: typeof isOwn): string[] =>
    (some.filter(({ kind }) => kind === 'ConfigMap') as readonly IConfigMap[])
      .flatMap(({ metadata, data = {} }) =>
        Object.entries(data)
          .filter(isMeant)
          .map(([key]) => `${metadata?.name} ${key}`),
      )
      .toSorted();
  const patches = (overlays[0]?.kustomization.patches ?? [])
    .map(({ patch }) => parse(patch) as Manifest | readonly unknown[])
    .filter((patch): patch is Manifest => 'kind' in patch);
  const own = keysOf(services.manifests, isOwn);
  expect(own.length).toBeGreaterThan(5);
  expect(keysOf(patches, () => true)).toEqual(expect.arrayContaining(own));
  expect(keysOf(patches, isOwn).filter((key) => !key.endsWith('TRUST_PROXY'))).toEqual([]);
});

it('says in the guide how many connections it asks for at most', async () => {
  const guide = await readFile(path.join(repositoryRoot, 'docs/guides/running-it.md'), 'utf8');
  const most = (app: string): number => {
    const scaler = named('HorizontalPodAutoscaler', app) as IHorizontalPodAutoscaler | undefined;
    const [scaled] = queueDepth.manifests as readonly IScaledObject[];
    const deployment = named('Deployment', app) as IDeployment | undefined;
    const byQueue = scaled?.metadata?.name === app ? scaled.spec.maxReplicaCount : undefined;
    return scaler?.spec.maxReplicas ?? byQueue ?? deployment?.spec?.replicas ?? 0;
  };
  const asked = async (app: (typeof appNames)[number]): Promise<string> => {
    const { DATABASE_POOL } = (await configOf(app)).readConfig(
      await environmentOf(podOf(app)),
    ) as unknown as {
      DATABASE_POOL: number;
    };
    return `${most(app)} × ${DATABASE_POOL}`;
  };
  const [api, workers, licenses, signIn] = [
    await asked('coordination-api'),
    await asked('delivery-worker'),
    await asked('license-service'),
    await asked('sign-in'),
  ];
  expect(guide.replaceAll('\n', ' ')).toContain(
    `${api} (API), ${workers} (workers), ${licenses} (licenses) and ${signIn} (sign-in)`,
  );
});

describe.each(appNames)('%s', (app) => {
  const pod = podOf(app);
  const port = portOfApp(app, {});

  it('is given nothing that it does not know, and all that it needs', async () => {
    const { environment, readConfig } = await configOf(app);
    const given = await environmentOf(pod);
    expect(Object.keys(environment)).toEqual(expect.arrayContaining(Object.keys(given)));
    expect(readConfig(given)).toMatchObject({ PORT: port, METRICS_PORT: metricsPortOf(port) });
    for (const { secretRef } of pod?.container?.envFrom ?? [])
      if (secretRef?.name !== undefined) expect(secretNames).toContain(secretRef.name);
  });

  it('has its secrets by reference alone', () => {
    const data = (named('ConfigMap', app) as IConfigMap | undefined)?.data ?? {};
    expect(
      Object.keys(data).filter((name) => /DATABASE_URL|REDIS_URL|SMTP|VAPID|PEPPER|SEAL/.test(name)),
    ).toEqual([]);
  });

  it('is asked on its port, at addresses that every service answers', async () => {
    expect(pod?.container?.ports).toEqual([
      { name: 'http', containerPort: port },
      { name: 'metrics', containerPort: metricsPortOf(port) },
    ]);
    const { startupProbe, livenessProbe, readinessProbe } = pod?.container ?? {};
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
    expect(asked.map((get) => get?.port)).toEqual(['http', 'http', 'http']);
    expect(asked.map((get) => get?.path)).toEqual(['/livez', '/livez', '/readyz']);
    const { annotations = {} } =
      (named('Deployment', app) as IDeployment | undefined)?.spec?.template.metadata ?? {};
    expect(annotations['prometheus.io/port']).toBe(metricsPortOf(port).toString());
    const service = createService({
      ...{ name: app, logger: createLogger(app, 'silent'), checks: [], maxInFlight: 1, trustProxy: false },
      toApiError: internalError,
    });
    for (const url of asked.map((get) => get?.path ?? '')) {
      const { statusCode } = await service.app.inject({ url });
      expect({ url, statusCode }).toEqual({ url, statusCode: 200 });
    }
    const { metricsAddress } = await service.listen({ HOST: '127.0.0.1', PORT: 0, METRICS_PORT: 0 });
    const metrics = await fetch(metricsAddress + (annotations['prometheus.io/path'] ?? ''));
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining('muster_')]);
    await service.stop();
  });

  it('has the time that it takes to leave', async () => {
    const { readConfig } = await configOf(app);
    const notice = readConfig(await environmentOf(pod)).DRAIN_NOTICE_MILLIS;
    const { periodSeconds = 10, failureThreshold = 3 } = pod?.container?.readinessProbe ?? {};
    // The drain notice lasts longer than the readiness probe needs to notice it.
    expect(notice).toBeGreaterThan(periodSeconds * failureThreshold * 1_000);
    const graceMillis = (pod?.spec?.terminationGracePeriodSeconds ?? 0) * 1_000;
    expect(graceMillis).toBeGreaterThan(notice + stopTimeoutMillis);
  });

  it('is never down to nothing, by a drain of nodes or by a rollout', () => {
    const deployment = named('Deployment', app) as IDeployment | undefined;
    const budget = named('PodDisruptionBudget', app) as IPodDisruptionBudget | undefined;
    expect(budget?.spec).toMatchObject({ maxUnavailable: 1, selector: { matchLabels: pod?.labels } });
    expect(deployment?.spec?.strategy?.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const scaler = named('HorizontalPodAutoscaler', app) as IHorizontalPodAutoscaler | undefined;
    expect(scaler?.spec.scaleTargetRef.name ?? app).toBe(app);
    // Either the deployment or the scaler sets the number of replicas, not both.
    const said = [deployment?.spec?.replicas, scaler?.spec.minReplicas].filter(
      (count) => count !== undefined,
    );
    expect(said).toEqual([2]);
  });

  it('is found by its Service, where others call it', () => {
    const service = named('Service', app) as IService | undefined;
    if (app === 'delivery-worker') {
      expect(service).toBeUndefined();
      return;
    }
    expect(service?.spec).toMatchObject({ selector: pod?.labels, ports: [{ port, targetPort: 'http' }] });
  });
});

it('runs each pod as nobody, on a file system that cannot be written, with no right to spare', () => {
  for (const { name, spec, container } of pods) {
    expect({ name, ...spec, ...container }).toMatchObject({
      automountServiceAccountToken: false,
      resources: {
        requests: { cpu: expect.any(String), memory: expect.any(String) },
        limits: { memory: expect.any(String) },
      },
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
    });
    expect(spec?.securityContext).toMatchObject({
      ...{ runAsNonRoot: true, runAsUser: 65532, seccompProfile: { type: 'RuntimeDefault' } },
    });
    const target = container?.image?.replace('muster/', '') ?? '';
    expect(lastOf(target, 'USER')?.getArgumentsContent()).toBe('65532:65532');
  }
});

it('migrates by the commands that the bundles have', async () => {
  const commands = new Map(
    jobs.map((job) => [job.metadata?.name, podOf(job.metadata?.name ?? '')?.container]),
  );
  expect(commands.get('migrate')?.command).toEqual([
    '/usr/local/bin/node',
    ...wordsOf(lastOf('cli', 'ENTRYPOINT')).slice(-1),
    ...wordsOf(lastOf('cli', 'CMD')),
  ]);
  expect(commands.get('migrate-licenses')?.command).toEqual(['/usr/local/bin/node', 'cli.js', 'migrate']);
  expect(Object.keys(await environmentOf(podOf('migrate')))).toEqual(['DATABASE_URL', 'DATABASE_NODES']);
  const ofService = await environmentOf(podOf('license-service'));
  const { DATABASE_URL: _, ...secrets } = await environmentOf(podOf('migrate-licenses'));
  expect(ofService).toMatchObject(secrets);
});

it('removes the counts of refused activations once a day, as the owner of their table', async () => {
  expect(cronJobs.map(({ metadata }) => metadata?.name)).toEqual(['purge-licenses']);
  expect(cronJobs[0]?.spec).toMatchObject({
    schedule: expect.stringMatching(/^\d+ \d+ \* \* \*$/),
    concurrencyPolicy: 'Forbid',
  });
  const pod = podOf('purge-licenses');
  expect(pod?.container?.command).toEqual(['/usr/local/bin/node', 'cli.js', 'purge']);
  expect(await environmentOf(pod)).toEqual(await environmentOf(podOf('migrate-licenses')));
});

it('leads one address to the API and the gateway, and one each to the others', () => {
  const [ingress] = ofKind('Ingress') as IIngress[];
  const routes = ingress?.spec?.rules?.map(({ host, http }) => ({
    host,
    paths: http?.paths.map(({ path: at, pathType, backend }) => `${pathType} ${at} ${backend.service?.name}`),
  }));
  expect(routes).toEqual([
    { host: 'muster.example.com', paths: ['Exact /api/mcp mcp-gateway', 'Prefix / coordination-api'] },
    { host: 'docs.muster.example.com', paths: ['Prefix / docs'] },
    { host: 'licenses.muster.example.com', paths: ['Prefix / license-service'] },
  ]);
  const data = (named('ConfigMap', 'coordination-api') as IConfigMap | undefined)?.data ?? {};
  expect([data['BASE_URL'], data['DOCS_URL'], data['LICENSE_URL']]).toEqual(
    routes?.map(({ host }) => `https://${host}`),
  );
});

it('lets through the largest body that a service takes', () => {
  const [ingress] = ofKind('Ingress') as IIngress[];
  const size = ingress?.metadata?.annotations?.['nginx.ingress.kubernetes.io/proxy-body-size'];
  expect(size).toBe(`${bulkBodyLimitBytes / 1024 / 1024}m`);
});

describe('the network', () => {
  const policies = (ofKind('NetworkPolicy') as INetworkPolicy[]).flatMap(({ spec }) => spec ?? []);

  type Selector = NonNullable<INetworkPolicy['spec']>['podSelector'];
  const selects = (selector: Selector | undefined, labels: Environment): boolean =>
    selector !== undefined &&
    Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value) &&
    (selector.matchExpressions ?? []).every(
      ({ key, operator, values }) => operator === 'In' && values?.includes(labels[key] ?? ''),
    );

  const mayCall = (pod: Pod, port: number, to?: Pod): boolean =>
    policies.some(
      ({ podSelector, egress = [] }) =>
        selects(podSelector, pod.labels) &&
        egress.some(
          (rule) =>
            rule.ports?.some((one) => one.port === port) &&
            (rule.to === undefined ||
              (to !== undefined && rule.to.some((peer) => selects(peer.podSelector, to.labels)))),
        ),
    );
  const mayBeCalled = (pod: Pod, port: number, by: Pod): boolean =>
    policies.some(
      ({ podSelector, ingress = [] }) =>
        selects(podSelector, pod.labels) &&
        ingress.some(
          (rule) =>
            rule.ports?.some((one) => one.port === port) &&
            rule.from?.some((peer) => selects(peer.podSelector, by.labels)),
        ),
    );

  it('lets through nothing that is not named', () => {
    expect(policies).toContainEqual({ podSelector: {}, policyTypes: ['Ingress', 'Egress'] });
    const [docs, worker, gateway] = ['docs', 'delivery-worker', 'mcp-gateway'].map(podOf);
    if (docs === undefined || worker === undefined || gateway === undefined)
      throw new Error('a pod is missing');
    expect([mayCall(docs, 5432), mayCall(gateway, 5432), mayCall(docs, 443)]).toEqual([false, false, false]);
    expect([mayBeCalled(worker, 4103, gateway), mayBeCalled(gateway, 4101, worker)]).toEqual([false, false]);
  });

  it('lets metrics be read by who watches, and by nobody who calls', () => {
    const reaching = policies.flatMap(({ ingress = [] }) =>
      ingress.flatMap(({ from = [], ports = [] }) =>
        ports.flatMap(({ port }) =>
          from.flatMap(({ namespaceSelector }) =>
            Object.keys(namespaceSelector?.matchLabels ?? {}).map((label) => `${label}: ${port ?? ''}`),
          ),
        ),
      ),
    );
    expect(reaching).toEqual(['muster.dev/may-call: http', 'muster.dev/may-watch: metrics']);
    const inner = policies.flatMap(({ ingress = [] }) => ingress.flatMap(({ ports = [] }) => ports));
    for (const app of appNames)
      expect(inner.map(({ port }) => port)).not.toContain(metricsPortOf(portOfApp(app, {})));
    for (const { spec } of ofKind('Service') as IService[])
      expect(spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(['http']);
  });

  it.each(pods)('lets $name reach what its variables name', async (pod) => {
    const environment = await environmentOf(pod);
    for (const { hostname, port } of innerAddresses(environment)) {
      const other = podOf(hostname);
      expect(other && [mayCall(pod, Number(port), other), mayBeCalled(other, Number(port), pod)]).toEqual([
        true,
        true,
      ]);
    }
    for (const name of ['DATABASE_URL', 'REDIS_URL', 'SMTP_URL']) {
      const address = environment[name];
      if (address === undefined) continue;
      const { port } = new URL(address);
      expect({ name, port, may: mayCall(pod, Number(port)) }).toEqual({ name, port, may: true });
    }
    // Every pod may look up host names by DNS.
    expect(mayCall(pod, 53)).toBe(true);
  });
});

it('has as many workers as the queues ask for, where there is KEDA', () => {
  const [scaled] = ofKind('ScaledObject') as IScaledObject[];
  expect(scaled?.spec.scaleTargetRef).toMatchObject({ kind: 'Deployment', name: 'delivery-worker' });
  expect(scaled?.spec.minReplicaCount).toBe(
    (named('Deployment', 'delivery-worker') as IDeployment | undefined)?.spec?.replicas,
  );
});
