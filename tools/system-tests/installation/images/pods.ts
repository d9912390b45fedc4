/**
 * Runs pod templates of Kubernetes by `podman kube play`, and sends their probes from outside, as a kubelet does.
 * Podman would run `curl` inside the containers, which have neither curl nor a shell.
 */
import path from 'node:path';
import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { type IConfigMap, type IContainer, type IPodTemplateSpec, type IProbe } from 'kubernetes-models/v1';
import { type Check } from '../../tour/check.ts';
import { type Engine, imagesFolder } from './engine.ts';
import { networks } from './installation.ts';

export interface Pod {
  readonly name: string;
  /** The podman container of the pod's only container. */
  readonly id: string;
  readonly container: IContainer;
  readonly template: IPodTemplateSpec;
}

/** Starts a pod from its template. Other pods reach it by each of the aliases. */
export async function startPod(
  engine: Engine,
  name: string,
  template: IPodTemplateSpec,
  configMaps: readonly IConfigMap[] = [],
  aliases: readonly string[] = [],
): Promise<Pod> {
  const [container, another] = template.spec?.containers ?? [];
  if (container === undefined || another !== undefined)
    throw new Error(`${name} needs exactly one container`);
  // Podman 4 publishes every port on the host, where the copies of a program would conflict.
  const { startupProbe: _, livenessProbe: __, readinessProbe: ___, ports: ____, ...played } = container;
  // Podman refuses the length of Helm's checksum in the annotations.
  const metadata = { name, labels: template.metadata?.labels };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...template.spec, containers: [played] } };
  // Podman 4 shares an emptyDir between pods that use the same volume name.
  const text = JSON.stringify(pod).replaceAll('"name":"tmp"', `"name":"tmp-${name}"`);
  const file = path.join(imagesFolder, 'pod.yaml');
  await writeFile(file, [...configMaps.map((one) => JSON.stringify(one)), text].join('\n---\n'));
  const front = `${networks[0]}:${aliases.map((alias) => `alias=${alias}`).join(',')}`.replace(/:$/, '');
  await engine.run('podman', 'kube', 'play', '--network', front, '--network', networks[1], file);
  return { name, id: `${name}-${container.name}`, container, template };
}

/** Runs a pod to its end, and throws its log if it fails. */
export async function runToEnd(engine: Engine, name: string, template: IPodTemplateSpec): Promise<void> {
  const { id } = await startPod(engine, name, template);
  const code = await engine.run('podman', 'wait', id);
  if (code !== '0') throw new Error(`${name} ended with ${code}: ${await engine.run('podman', 'logs', id)}`);
  await engine.run('podman', 'pod', 'rm', name);
}

/** Returns the URL of a port of the pod, given by its name or number. */
export async function urlOf(
  engine: Engine,
  { id, container }: Pod,
  port: number | string = '',
): Promise<string> {
  const format = `{{(index .NetworkSettings.Networks "${networks[0]}").IPAddress}}`;
  const { containerPort = port } = container.ports?.find(({ name }) => name === port) ?? {};
  return `http://${await engine.run('podman', 'inspect', '--format', format, id)}:${containerPort}`;
}

/** Sends a probe until it succeeds, or `attempts` times. Returns the last answer if it is not 200. */
async function sendProbe(
  engine: Engine,
  pod: Pod,
  probe: IProbe = {},
  attempts = 1,
): Promise<string | undefined> {
  const { httpGet, periodSeconds = 10, timeoutSeconds = 1 } = probe;
  const url = `${await urlOf(engine, pod, httpGet?.port)}${httpGet?.path}`;
  const answer = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1_000) }).then(
    ({ status }) => `${status}`,
    (error: unknown) => String(error),
  );
  if (answer === '200') return undefined;
  if (attempts <= 1) return `${pod.name} answers ${httpGet?.path} with ${answer}`;
  await wait(periodSeconds * 1_000);
  return sendProbe(engine, pod, probe, attempts - 1);
}

/** A rollout waits longer for readiness than the probe's failureThreshold. */
const rolloutAttempts = 20;

/** Waits until the startup and readiness probes succeed. Throws the log of a pod that does not start. */
export async function waitUntilReady(engine: Engine, pod: Pod): Promise<void> {
  const { startupProbe, readinessProbe } = pod.container;
  const problem =
    (await sendProbe(engine, pod, startupProbe, startupProbe?.failureThreshold)) ??
    (await sendProbe(engine, pod, readinessProbe, rolloutAttempts));
  if (problem === undefined) return;
  throw new Error(`${problem}\n${await engine.run('podman', 'logs', '--tail', '5', pod.id)}`);
}

/**
 * Checks that the pod is alive and ready, never restarted, and has its memory limit. Then stops it as Kubernetes
 * does, and checks that its program ends by itself within the grace period.
 */
export async function checkAndStop(engine: Engine, pod: Pod, rule: Check): Promise<void> {
  const { name, id, container, template } = pod;
  for (const probe of [container.livenessProbe, container.readinessProbe]) {
    const problem = await sendProbe(engine, pod, probe);
    if (problem !== undefined) rule.fail(problem);
  }
  const inspect = (format: string) => engine.run('podman', 'inspect', '--format', format, id);
  const [restarts, bytes] = (await inspect('{{.RestartCount}} {{.HostConfig.Memory}}')).split(' ');
  rule.same(restarts, '0', `the number of restarts of ${name}`);
  const limit = `${Number(bytes) / 2 ** 20}Mi`;
  rule.same(limit, container.resources?.limits?.['memory'], `the memory limit of ${name}`);
  const graceSeconds = `${template.spec?.terminationGracePeriodSeconds}`;
  await engine.run('podman', 'pod', 'stop', '--time', graceSeconds, name);
  rule.same(await inspect('{{.State.ExitCode}}'), '0', `the exit code of ${name}`);
}
