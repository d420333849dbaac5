'use strict';

// A member of a group: reports each message that its user gets, until it is asked to end.

const { Consumer } = require('ali-ons');
const { askedToEnd, clientOptions, report, run, start } = require('./scenario');

const ROUND_MS = 2000; // The library would look for other members every ten seconds, and for routes every thirty.

function reportReceived(message, outcome) {
  report('received', {
    topic: message.topic,
    queueId: message.queueId,
    queueOffset: message.queueOffset,
    messageId: message.msgId,
    tags: message.tags || '',
    keys: message.keys || '',
    body: message.body.toString(),
    reconsumeTimes: message.reconsumeTimes,
    outcome,
  });
}

function buildConsumer(options) {
  return new Consumer({
    ...clientOptions(options),
    consumerGroup: options.group,
    isBroadcast: options.model === 'broadcasting',
    maxReconsumeTimes: Number(options.retries || 16), // the library's own default
    consumeFromWhere: 'CONSUME_FROM_FIRST_OFFSET',
    rebalanceInterval: ROUND_MS,
    pollNameServerInteval: ROUND_MS, // as the library spells it
  });
}

run(async options => {
  const asked = askedToEnd();
  const consumer = buildConsumer(options);
  consumer.subscribe(options.topic, options.expression || '*', async message => {
    const isToFail = message.reconsumeTimes < Number(options['fail-times'] || 0);
    reportReceived(message, isToFail ? 'failed' : 'consumed');
    if (isToFail) throw new Error('told to fail');
  });
  await start(consumer);
  await asked;
  await consumer.close();
});
