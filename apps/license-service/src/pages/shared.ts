/** Functions that the customer pages and the support pages share. */
import { type FormFields, serviceUnavailable } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Db, RefusedError } from '../operators/transaction.ts';
import { type OpenedVault } from '../vault.ts';
import { type AirGapDownload, answerUploadedRequest, sendAnswerFile } from './answers.ts';
import { problemPage } from './customer.ts';
import { sendPage } from './layout.ts';
import { type SupportPagesOptions } from './people.ts';

export const slotOfForm = (form: FormFields): number => {
  const slot = Number(form['slot']);
  if (Number.isInteger(slot) && slot > 0) return slot;
  throw new RefusedError('free_slot', 'this machine does not exist');
};

export function requireOpenedVault(options: Pick<SupportPagesOptions, 'opened'>): OpenedVault {
  const opened = options.opened();
  if (opened === undefined) throw serviceUnavailable('database');
  return opened;
}

/** Returns the uploaded request file for this license. */
export const answerOfflineUpload = (
  options: SupportPagesOptions,
  db: Db,
  request: FastifyRequest,
  licenseId: string,
): Promise<AirGapDownload> =>
  answerUploadedRequest(db, requireOpenedVault(options), {
    request,
    licenseId,
    seconds: options.airGapSeconds,
  });

/** Sends the answer as a file download, or a refusal as a page. The transaction has already counted the refusal. */
export const sendAnswerOrRefusal = (
  reply: FastifyReply,
  { answer, refusalMessage }: AirGapDownload,
): FastifyReply =>
  refusalMessage === undefined
    ? sendAnswerFile(reply, answer)
    : sendPage(reply, problemPage('Not allowed', refusalMessage, 409));
