export { type CallOptions, type Client, createClient, MusterError, type Transport } from './client.ts';
export { type HttpOptions, httpTransport, pathOf } from './http.ts';
