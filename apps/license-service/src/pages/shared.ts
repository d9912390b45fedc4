/** Functions that the customer pages and the support pages share. */
import { type FormFields, unavailable } from '@muster/http';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type Db, Refused } from '../operators/transaction.ts';
import { type OpenedVault } from '../vault.ts';
import { type AirGapDownload, answerUpload, sendAnswer } from './answers.ts';
import { problemPage } from './customer.ts';
import { sendPage } from './layout.ts';
import { type PeopleOptions } from './people.ts';

export const slotOf = (form: FormFields): number => {
  const slot = Number(form['slot']);
  if (Number.isInteger(slot) && slot > 0) return slot;
  throw new Refused('free_slot', 'this machine does not exist');
};

export function openedNow(options: Pick<PeopleOptions, 'opened'>): OpenedVault {
  const opened = options.opened();
  if (opened === undefined) throw unavailable('database');
  return opened;
}

/** Returns the uploaded request file for this license. */
export const upload = (
  options: PeopleOptions,
  db: Db,
  request: FastifyRequest,
  licenseId: string,
): Promise<AirGapDownload> =>
  answerUpload(db, openedNow(options), { request, licenseId, seconds: options.airGapSeconds });

/** Sends the answer as a file download, or a refusal as a page. The transaction has already counted the refusal. */
export const sendAnswered = (reply: FastifyReply, { answer, refused }: AirGapDownload): FastifyReply =>
  refused === undefined
    ? sendAnswer(reply, answer)
    : sendPage(reply, problemPage('Not allowed', refused, 409));
