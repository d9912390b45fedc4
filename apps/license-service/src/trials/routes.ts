/** Registers the trial path. It is rate-limited like activations. Starting a trial counts as a failure of its address. */
import { unavailable } from '@muster/http';
import { type FastifyInstance } from 'fastify';
import { tooManyAttempts } from '../activation/answers.ts';
import { readMachine } from '../activation/params.ts';
import { recorded } from '../activation/recorded.ts';
import { type ActivationOptions } from '../activation/routes.ts';
import { productOf } from '../vault.ts';
import { noTrials, overWith, trialCertificate, trialOf } from './trial.ts';

export function addTrialRoutes(
  app: FastifyInstance,
  options: Omit<ActivationOptions, 'certificateSeconds'>,
): void {
  const { pool, limiter, opened } = options;
  app.post(
    '/api/trials',
    recorded(options, 'trial', async (request, reply) => {
      const attempt = { kind: 'ip', address: request.ip, keyHash: undefined } as const;
      const understood = ((): { machineId: string } | { problem: unknown } => {
        try {
          return { machineId: readMachine(request.body) };
        } catch (problem) {
          return { problem };
        }
      })();
      if ('problem' in understood) {
        const { verdict, headers, retryAfterSeconds } = await limiter.admit(attempt);
        reply.headers(headers);
        throw verdict === 'refused' ? tooManyAttempts(retryAfterSeconds) : understood.problem;
      }
      const { machineId } = understood;
      const now = opened();
      const product = productOf(now, request.product);
      if (now === undefined || product === undefined) throw unavailable('database');
      const [keyHash] = now.hasher.hashes(machineId);
      const admission = await limiter.admit({ ...attempt, keyHash });
      reply.headers(admission.headers);
      if (admission.verdict === 'refused') throw tooManyAttempts(admission.retryAfterSeconds);
      const trial = await trialOf(pool, { product: product.name, hasher: now.hasher, machineId });
      // Machine IDs can be invented, so a new trial counts as a failure of the address. Repeated calls for a
      // trial do not count.
      if (trial?.isNew !== true) admission.succeeded();
      if (trial === undefined) throw noTrials();
      const over = overWith(trial);
      if (over !== undefined) throw over;
      const { signer } = product.keys;
      if (signer !== undefined)
        reply.header('license-certificate', trialCertificate(trial, product.name, machineId, signer));
      const { startedAt, endsAt } = trial;
      return { body: { success: true, trial: { machineId, startedAt, expiresAt: endsAt } } };
    }),
  );
}
