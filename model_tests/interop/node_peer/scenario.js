'use strict';

// What every driver shares: its options, the lines that it prints, and how it ends.

const { parseArgs } = require('node:util');

const OPTIONS = [
  'name-server', 'group', 'topic', 'access-key', 'secret-key', // of all drivers
  'messages', 'word', 'pause-ms', // of those that send
  'expression', 'model', 'fail-times', 'retries', // of those that consume
];

/** The options of this start, as text. */
function readOptions() {
  const known = Object.fromEntries(OPTIONS.map(name => [name, { type: 'string' }]));
  return parseArgs({ options: known, strict: true }).values;
}

/** One JSON line says what happened. */
function report(event, fields = {}) {
  process.stdout.write(`${JSON.stringify({ event, ...fields, atMs: Date.now() })}\n`);
}

/** What the client tells its user about a message that was stored. */
function reportSent(body, result) {
  report('sent', {
    body,
    status: result.sendStatus.replace('SEND_', ''), // as the other clients say it: OK
    messageId: result.msgId,
    queueId: Number(result.messageQueue.queueId),
    queueOffset: result.queueOffset,
  });
}

/** What each client of the library is given; an HTTP client is demanded by it, and never used. */
function clientOptions(options) {
  const silent = () => {};
  return {
    nameSrv: options['name-server'],
    accessKey: options['access-key'], // without it the library signs nothing
    secretKey: options['secret-key'],
    httpclient: { request: () => Promise.reject(new Error('nobody may be asked for an address')) },
    logger: { debug: silent, info: silent, warn: console.error, error: console.error },
  };
}

/** A client runs, and this was reported. */
async function start(client) {
  client.on('error', error => console.error(error));
  await client.ready();
  report('ready');
}

/** The process ends with 0 after the scenario; with 1 and the reason if it did not do what it was told. */
function run(scenario) {
  scenario(readOptions()).then(
    () => {
      report('ended');
      process.exit(0);
    },
    error => {
      report('failed', { error: String(error) });
      process.exit(1);
    }
  );
}

/** Resolved when somebody asks this process to end. */
function askedToEnd() {
  return new Promise(resolve => process.once('SIGTERM', resolve));
}

module.exports = { askedToEnd, clientOptions, report, reportSent, run, start };
