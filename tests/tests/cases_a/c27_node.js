// Reads and writes by promises, which may go by a ring.
const fs = require('fs'), { promises } = fs, assert = require('assert');
(async () => {
  const sync = fs.openSync('sync', 'w+');
  fs.writeSync(sync, 'written at once');
  assert.equal(await promises.readFile('sync', 'utf8'), 'written at once');
  const handle = await promises.open('promised', 'w+');
  for (let i = 0; i < 50; i++) await handle.write(`line ${i}\n`);
  assert.equal(fs.readFileSync('promised', 'utf8').split('\n').length, 51);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(7), 0, 7, 0);
  assert.equal(buffer.toString('utf8', 0, bytesRead), 'line 0\n');
  fs.writeSync(handle.fd, 'LINE', 0);
  await handle.datasync();
  assert.equal((await promises.readFile('promised', 'utf8')).slice(0, 7), 'LINE 0\n');
  assert.equal((await handle.stat()).size, (await promises.stat('promised')).size);
  await handle.truncate(7);
  await handle.close();
  await promises.copyFile('promised', 'copied');
  await promises.appendFile('copied', 'appended');
  assert.equal(fs.readFileSync('copied', 'utf8'), 'LINE 0\nappended');
  const source = fs.createReadStream('copied'), sink = fs.createWriteStream('streamed');
  await require('stream/promises').pipeline(source, sink);
  assert.equal(fs.readFileSync('streamed', 'utf8'), 'LINE 0\nappended');
  await promises.rename('streamed', 'renamed');
  await promises.unlink('sync');
  fs.closeSync(sync);
})().catch(error => { console.error(error); process.exit(1); });
