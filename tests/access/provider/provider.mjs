// A real OpenID Connect provider on a free port of loopback; says its address in one line and lives until its input ends.
//   node provider.mjs RS256|ES256
import { OAuth2Server } from 'oauth2-mock-server';

const server = new OAuth2Server();
await server.issuer.keys.generate(process.argv[2] ?? 'RS256');
await server.start(0, '127.0.0.1');
server.issuer.url = `http://127.0.0.1:${server.address().port}`;
let changes = {};
server.service.on('beforeTokenSigning', (token) => Object.assign(token.payload, { preferred_username: 'Grace', name: 'Grace H.' }, changes));
// Lines of JSON on the input change what the next tokens claim.
process.stdin.on('data', (bytes) => {
  for (const line of bytes.toString().split('\n').filter(Boolean)) {
    changes = JSON.parse(line);
    console.log('changed');
  }
});
process.stdin.on('end', () => process.exit(0));
console.log(server.issuer.url);
