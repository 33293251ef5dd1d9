// Runs the stand-in in a process a test can kill: stand-in-process.ts <data folder> <web port>
import { startEc2 } from '../../../dev/ec2/stand-in.ts'

const [dataDir = '', webPort = '0'] = process.argv.slice(2)
const ec2 = await startEc2({ dataDir, bootMs: 20, webPort: Number(webPort), log: console.error })
console.log(ec2.endpoint)
