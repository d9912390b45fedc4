import { once } from 'node:events';
import { type AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface MailServer {
  /** The value for SMTP_URL. */
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** Starts an SMTP server without TLS and logins. It refuses a mail with the error that `receive` throws. */
export async function startMailServer(
  receive: (mail: Buffer, recipient: string) => unknown,
  host = '127.0.0.1',
): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    hideSTARTTLS: true,
    onData: (stream, { envelope }, done) => {
      buffer(stream)
        .then((mail) => receive(mail, envelope.rcptTo[0]?.address ?? ''))
        .then(() => {
          done();
        }, done);
    },
  });
  server.listen(0, host);
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return {
    url: `smtp://${host}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}
