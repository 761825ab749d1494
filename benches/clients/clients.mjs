// Calls each address as one of npm's clients does, as its documentation shows, and says when a call
// has ended: clients.mjs CLIENT ADDRESS CASE...
import { readFileSync } from 'node:fs';

const [client, base, ...cases] = process.argv.slice(2);
const forGrpc = { service: 'Case', retryPolicy: {
  maxAttempts: 4, initialBackoff: '0.5s', maxBackoff: '1s', backoffMultiplier: 2,
  retryableStatusCodes: ['RESOURCE_EXHAUSTED', 'UNAVAILABLE'],
} };

const clients = {
  async undici(url) {
    const { Agent, RetryAgent, request } = await import('undici');
    await request(url, { dispatcher: new RetryAgent(new Agent()) });
  },
  async got(url) {
    const { default: got } = await import('got');
    await got(url);
  },
  async 'axios-retry'(url) {
    const [{ default: axios }, { default: axiosRetry }] =
        [await import('axios'), await import('axios-retry')];
    const own = axios.create();
    axiosRetry(own, { retries: 3 });
    await own.get(url);
  },
  async ky(url) {
    const { default: ky } = await import('ky');
    await ky.get(url, { timeout: false });
  },
  async superagent(url) {
    const { default: superagent } = await import('superagent');
    await superagent.get(url).retry(3);
  },
  async openai(url) {
    const { default: OpenAI } = await import('openai');
    await new OpenAI({ apiKey: 'none', baseURL: url }).models.list();
  },
  async fetch(url) {
    await fetch(url);
  },
  async connect(url) {
    const { createConnectTransport } = await import('@connectrpc/connect-node');
    const { EmptySchema } = await import('@bufbuild/protobuf/wkt');
    const { create } = await import('@bufbuild/protobuf');
    const transport = createConnectTransport({ baseUrl: url, httpVersion: '1.1' });
    const method = { kind: 'method', name: 'Call', localName: 'call', methodKind: 'unary',
      parent: { typeName: 'Case' }, input: EmptySchema, output: EmptySchema, idempotency: 1 };
    await transport.unary(method, undefined, undefined, {}, create(EmptySchema), undefined);
  },
  async 'otlp-js'(url) {
    const { OTLPMetricExporter } = await import('@opentelemetry/exporter-metrics-otlp-proto');
    const { MeterProvider, PeriodicExportingMetricReader } =
        await import('@opentelemetry/sdk-metrics');
    const exporter = new OTLPMetricExporter({ url });
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1e8 });
    new MeterProvider({ readers: [reader] }).getMeter('m').createCounter('c').add(1);
    await reader.forceFlush();
  },
  async 'grpc-js'(_, name) {
    const { Client, Metadata, credentials } = await import('@grpc/grpc-js');
    const config = { methodConfig: [{ name: [{ service: 'Case' }], ...forGrpc }] };
    const channel = new Client(base, credentials.createInsecure(),
        { 'grpc.service_config': JSON.stringify(config) });
    const metadata = new Metadata();
    metadata.set('case', `grpc-js/${name}`);
    const same = bytes => bytes;
    await new Promise((well, fail) => channel.makeUnaryRequest('/Case/Call', same, same,
        Buffer.alloc(0), metadata, {}, error => error ? fail(error) : well()));
  },
};

process.on('unhandledRejection', () => {});
for (const name of cases) {
  clients[client](`${base}/${client}/${name}`, name)
      .catch(error => { if (process.env.SHOW) console.error(name, error); })
      .then(() => console.log(name));
}
