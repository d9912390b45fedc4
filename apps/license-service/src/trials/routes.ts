/** Registers the trial path. It is rate-limited like activations. Starting a trial counts as a failure of its address. */
import { serviceUnavailable } from '@muster/http';
import { type FastifyInstance } from 'fastify';
import { tooManyAttemptsError } from '../activation/answers.ts';
import { parseTrialMachineId } from '../activation/params.ts';
import { recordCalls } from '../activation/recorded.ts';
import { type ActivationOptions } from '../activation/routes.ts';
import { findLoadedProduct } from '../vault.ts';
import { noTrialsError, endedTrialError, signTrialCertificate, findOrStartTrial } from './trial.ts';

export function addTrialRoutes(
  app: FastifyInstance,
  options: Omit<ActivationOptions, 'certificateSeconds'>,
): void {
  const { pool, limiter, opened } = options;
  app.post(
    '/api/trials',
    recordCalls(options, 'trial', async (request, reply) => {
      const attempt = { kind: 'ip', address: request.ip, keyHash: undefined } as const;
      const understood = ((): { machineId: string } | { problem: unknown } => {
        try {
          return { machineId: parseTrialMachineId(request.body) };
        } catch (problem) {
          return { problem };
        }
      })();
      if ('problem' in understood) {
        const { verdict, headers, retryAfterSeconds } = await limiter.admit(attempt);
        reply.headers(headers);
        throw verdict === 'refused' ? tooManyAttemptsError(retryAfterSeconds) : understood.problem;
      }
      const { machineId } = understood;
      const now = opened();
      const product = findLoadedProduct(now, request.product);
      if (now === undefined || product === undefined) throw serviceUnavailable('database');
      const [keyHash] = now.hasher.hashes(machineId);
      const admission = await limiter.admit({ ...attempt, keyHash });
      reply.headers(admission.headers);
      if (admission.verdict === 'refused') throw tooManyAttemptsError(admission.retryAfterSeconds);
      const trial = await findOrStartTrial(pool, { product: product.name, hasher: now.hasher, machineId });
      // Machine IDs can be invented, so a new trial counts as a failure of the address. Repeated calls for a
      // trial do not count.
      if (trial?.isNew !== true) admission.returnFailureTokens();
      if (trial === undefined) throw noTrialsError();
      const over = endedTrialError(trial);
      if (over !== undefined) throw over;
      const { signer } = product.keys;
      if (signer !== undefined)
        reply.header('license-certificate', signTrialCertificate(trial, product.name, machineId, signer));
      const { startedAt, endsAt } = trial;
      return { body: { success: true, trial: { machineId, startedAt, expiresAt: endsAt } } };
    }),
  );
}
