// A process of its own that puts load on a server, so that what it costs is never taken for the server's.
// It is started by `Services.load`: one message in for each run, one out.
import autocannon from 'autocannon';
import { type LoadRequest, type LoadResult, type Run } from './load-request.ts';
import { fill, keep, recalls } from './memory.ts';
import { quantiles } from './report.ts';

/** How often autocannon looks whether the time is over. */
const sampleMillis = 50;
/** A server that does not answer for so long has failed. */
const timeoutSeconds = 10;

/** A request that needs nothing of another is built once. */
const asSent = ({ remember, ...request }: LoadRequest): autocannon.Request => ({
  method: 'POST',
  ...request,
  ...(recalls(request.body) && {
    setupRequest: (sent, memory) => ({ ...sent, body: fill(request.body, memory) }),
  }),
  ...(remember !== undefined && {
    onResponse: (status, body, memory) => {
      if (status === 200) keep(memory, remember, body);
    },
  }),
});

async function load({ url, lanes, seconds }: Run): Promise<LoadResult> {
  const latencies: number[] = [];
  const start = performance.now();
  let last = start;
  let refused: LoadResult['refused'] = null;
  let lane = 0;
  const result = await autocannon({
    url,
    connections: lanes.length,
    duration: seconds,
    sampleInt: sampleMillis,
    timeout: timeoutSeconds,
    setupClient: (client) => {
      // autocannon has made this connection's settings from an empty request; now it gets its own.
      client.setRequests([...(lanes[lane++ % lanes.length] ?? [])].map(asSent));
      let status = 200;
      client.on('headers', (head: { statusCode: number }) => {
        status = head.statusCode;
      });
      client.on('body', (body: Buffer | string) => {
        if (status < 200 || status > 299) refused ??= { status, body: body.toString().slice(0, 1_000) };
      });
      client.on('response', (code: number, _bytes: number, millis: number) => {
        last = performance.now();
        if (code >= 200 && code <= 299) latencies.push(millis);
        else refused ??= { status: code, body: '' };
      });
    },
  });
  return {
    rate: (latencies.length / (last - start)) * 1000,
    answered: latencies.length,
    sent: result.requests.sent,
    failed: result.errors + result.non2xx,
    refused,
    ...quantiles(latencies),
  };
}

process.on('message', (run: Run) => {
  void load(run).then(
    (result) => process.send?.(result),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      process.exit(1);
    },
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.('ready');
