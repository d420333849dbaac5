'use strict';

// Sends messages one after the other and reports each answer.

const { Message, Producer } = require('ali-ons');
const { clientOptions, reportSent, run, start } = require('./scenario');

function buildMessage(topic, wanted) {
  // With two arguments the library takes the second for the body, and calls the missing tag "null".
  const message = wanted.tags ? new Message(topic, wanted.tags, wanted.body) : new Message(topic, wanted.body);
  if (wanted.keys.length) message.keys = wanted.keys;
  if (wanted.delayLevel) message.delayTimeLevel = wanted.delayLevel;
  if (wanted.shard) message.shardingKey = wanted.shard;
  return message;
}

run(async options => {
  const producer = new Producer({ ...clientOptions(options), producerGroup: options.group });
  await start(producer);
  for (const wanted of JSON.parse(options.messages)) {
    reportSent(wanted.body, await producer.send(buildMessage(options.topic, wanted)));
  }
  await producer.close();
});
