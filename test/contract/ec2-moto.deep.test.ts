import { CreateLaunchTemplateCommand, DescribeImagesCommand, EC2Client } from '@aws-sdk/client-ec2'
import { moto, startMoto } from '../../testing/stack/moto.ts'
import { isSkipped } from '../../testing/stack/third-party.ts'
import { ec2ProtocolSuite } from './ec2-protocol.ts'

// Where moto 5.2.5 differs from what AWS documents. An outdated row fails; delete it then.
const deviations = {
  // moto stores and describes client tokens, but launches again anyway.
  'answers the same token and parameters with the same instance': 'launches a second instance',
  'refuses the same token with other parameters': 'launches a second instance',
  'refuses the token of a terminated instance': 'launches a second instance',
  // moto answers its own exceptions with an HTML page.
  'refuses a filter that it does not know': 'answers 500 and HTML',
  'refuses pages of fewer than five': 'gives a page of four',
  'says that an id is malformed': 'answers InvalidInstanceID.NotFound',
  // moto always answers shutting-down as the current state.
  'terminates a second time without complaint': 'says that the terminated instance is shutting down',
  // moto ignores MaxResults and NextToken here.
  'gives a status in pages': 'gives all on one page',
}

ec2ProtocolSuite('EC2 protocol: moto', {
  deviations,
  skip: isSkipped(moto),
  async start() {
    const server = await startMoto()
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'secret' }
    const ec2 = new EC2Client({ endpoint: server.endpoint, region: 'us-east-1', maxAttempts: 1, credentials })
    const { Images } = await ec2.send(new DescribeImagesCommand({ Owners: ['amazon'] }))
    const ImageId = Images?.[0]?.ImageId
    if (!ImageId) throw new Error('moto offers no image to launch.')
    const LaunchTemplateName = 'simulator'
    const LaunchTemplateData = { ImageId }
    await ec2.send(new CreateLaunchTemplateCommand({ LaunchTemplateName, LaunchTemplateData }))
    ec2.destroy()
    return { ...server, launch: { LaunchTemplate: { LaunchTemplateName, Version: '1' } } }
  },
})
