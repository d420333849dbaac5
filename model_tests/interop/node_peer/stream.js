'use strict';

// Sends numbered messages until it is asked to end, and reports each answer and each failure.

const { setTimeout: sleep } = require('node:timers/promises');
const { Message, Producer } = require('ali-ons');
const { askedToEnd, clientOptions, report, reportSent, run, start } = require('./scenario');

run(async options => {
  let isAsked = false;
  askedToEnd().then(() => (isAsked = true));
  const producer = new Producer({ ...clientOptions(options), producerGroup: options.group });
  await start(producer);
  for (let number = 0; !isAsked; number++) {
    const body = `${options.word}-${number}`;
    try {
      reportSent(body, await producer.send(new Message(options.topic, 'stream', body)));
    } catch (error) {
      report('refused', { body, error: String(error) });
    }
    await sleep(Number(options['pause-ms']));
  }
  await producer.close();
});
