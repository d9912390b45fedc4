// A separate process that puts load on a server, so that its cost is never counted as the server's.
// `Services.load` starts it. It receives one message for each run and answers with one.
import autocannon from 'autocannon';
import { type LoadRequest, type LoadResult, type LoadRun } from './load-request.ts';
import { fill, keep, type Memory, recalls } from './memory.ts';
import { quantiles } from './report.ts';

/** The interval at which autocannon checks whether the run has ended. */
const sampleMillis = 50;
/** A server that does not answer within this time has failed. */
const timeoutSeconds = 10;

/** A request without remembered values is built once. */
const asSent = ({ remember, ...request }: LoadRequest): autocannon.Request => ({
  method: 'POST',
  ...request,
  ...(recalls(request.body) && {
    setupRequest: (sent, memory) => ({ ...sent, body: fill(request.body, memory as Memory) }),
  }),
  ...(remember !== undefined && {
    onResponse: (status, body, memory) => {
      if (status === 200) keep(memory as Memory, remember, body);
    },
  }),
});

async function load({ url, lanes, seconds }: LoadRun): Promise<LoadResult> {
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
      // autocannon has initialized this connection with an empty request. The connection gets its own
      // requests now.
      client.setRequests([...(lanes[lane++ % lanes.length] ?? [])].map(asSent));
      let status = 200;
      // The package's types describe the headers only, and the event passes the whole head.
      (client as NodeJS.EventEmitter).on('headers', (head: { statusCode: number }) => {
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

process.on('message', (run: LoadRun) => {
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
