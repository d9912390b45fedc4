/** Mails, by SMTP or into a folder. */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { type Logger } from 'pino';

/** Where mails go. */
export type MailTo = { readonly smtpUrl: string } | { readonly folder: string };

/** What the environment says of where mails go; undefined where it says nothing. SMTP counts before a folder. */
export function mailToOf(said: {
  readonly SMTP_URL?: string | undefined;
  readonly MAIL_FOLDER?: string | undefined;
}): MailTo | undefined {
  const { SMTP_URL: smtpUrl, MAIL_FOLDER: folder } = said;
  if (smtpUrl !== undefined) return { smtpUrl };
  return folder === undefined ? undefined : { folder };
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string | undefined;
}

export interface Mailer {
  /** `id` makes the Message-ID: a mail that goes out twice is the same mail to its recipient. */
  send(mail: Mail, id: string): Promise<void>;
  close(): void;
}

/** A server that does not answer costs one attempt, not a worker. */
const timeouts = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
};

/** What is in a mail is ours alone: nothing is read from disk or fetched to fill it. */
const contained = { disableFileAccess: true, disableUrlAccess: true };

/** Marks of direction in a name would turn around what stands beside it. */
const withoutDirections = (text: string): string => text.replace(/\p{Bidi_Control}/gu, '');

export function createMailer(mailTo: MailTo, from: string, logger: Logger): Mailer {
  const messageOf = ({ to, subject, text, html }: Mail, id: string): SendMailOptions => ({
    from,
    to,
    subject: withoutDirections(subject),
    text: withoutDirections(text),
    ...(html !== undefined && { html: withoutDirections(html) }),
    messageId: `<${id}@${/@([^\s>]+)/.exec(from)?.[1] ?? 'muster'}>`,
    // No absence note should answer it.
    headers: { 'Auto-Submitted': 'auto-generated' },
  });

  if ('smtpUrl' in mailTo) {
    const transport = createTransport({ url: mailTo.smtpUrl, ...timeouts, ...contained });
    return {
      send: async (mail, id) => {
        await transport.sendMail(messageOf(mail, id));
      },
      close: () => {
        transport.close();
      },
    };
  }

  const { folder } = mailTo;
  const transport = createTransport({ streamTransport: true, buffer: true, ...contained });
  return {
    send: async (mail, id) => {
      const { message } = await transport.sendMail(messageOf(mail, id));
      if (!Buffer.isBuffer(message)) throw new Error('the mail was not rendered into memory');
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // Times sort; the same mail written twice is one file.
      const file = `${id}-${mail.to.replaceAll(/[^A-Za-z0-9.@-]/g, '_').slice(0, 100)}.eml`;
      await writeFile(path.join(folder, file), message, { mode: 0o600 });
      // Links in mails are secrets, and addresses are people's: neither has a place in a log. The file's name begins with the id.
      logger.info({ id }, 'mail written to the folder');
    },
    close: () => undefined,
  };
}
