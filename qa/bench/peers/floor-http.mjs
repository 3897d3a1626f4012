// Lower bound for Node: node:http with a fixed response.
import { createServer } from 'node:http';
import { listening, PROFILE } from './peer.mjs';

const body = JSON.stringify(PROFILE);
const server = createServer((request, response) => {
  request.resume();
  response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
});
server.listen(Number(process.env.PORT), '127.0.0.1', listening);
