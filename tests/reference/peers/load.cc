// RED, a token bucket or a Reno sender of ns-3 on one link: prints packet-hops and seconds of CPU time.
// usage: load red|bucket|aimd SECONDS
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <cstdio>
#include <ctime>
using namespace ns3;

static const uint32_t PAYLOAD = 972; // of packets of 1000 B
static uint64_t hops = 0;
static void Sent(Ptr<const Packet>) { ++hops; }

int main(int, char** argv)
{
    const std::string kind = argv[1];
    const double seconds = atof(argv[2]);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(960));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    NodeContainer nodes(2);
    InternetStackHelper stack;
    stack.Install(nodes);
    PointToPointHelper link;
    // The device's own queue holds one packet, so that all wait in the queue disc. A bucket needs a faster line.
    link.SetDeviceAttribute("DataRate", StringValue(kind == "bucket" ? "1Gbps" : "10Mbps"));
    link.SetChannelAttribute("Delay", StringValue("20ms"));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1p"));
    NetDeviceContainer devices = link.Install(nodes);
    TrafficControlHelper queue;
    if (kind == "red")
        queue.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", StringValue("100p"), "MinTh", DoubleValue(20), "MaxTh",
                               DoubleValue(60), "LInterm", DoubleValue(2), "QW", DoubleValue(0.002), "MeanPktSize",
                               UintegerValue(1000), "LinkBandwidth", StringValue("10Mbps"), "LinkDelay",
                               StringValue("20ms"), "Gentle", BooleanValue(false));
    else if (kind == "bucket")
        queue.SetRootQueueDisc("ns3::TbfQueueDisc", "MaxSize", StringValue("100p"), "Burst", UintegerValue(20000),
                               "Rate", StringValue("10Mbps"));
    else
        queue.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("50p"));
    queue.Install(devices.Get(0));
    Ipv4AddressHelper address("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer at = address.Assign(devices);
    Ptr<UdpClient> source_of;
    if (kind == "aimd")
    {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(at.GetAddress(1), 9));
        bulk.Install(nodes.Get(0)).Start(Seconds(0));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
        sink.Install(nodes.Get(1)).Start(Seconds(0));
        for (uint32_t i = 0; i < 2; ++i)
            devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Sent));
    }
    else
    {
        UdpClientHelper source(at.GetAddress(1), 9);
        source.SetAttribute("MaxPackets", UintegerValue(UINT32_MAX));
        source.SetAttribute("Interval", TimeValue(NanoSeconds(666667))); // 1000 bytes at 12 Mbit/s
        source.SetAttribute("PacketSize", UintegerValue(PAYLOAD));
        ApplicationContainer sources = source.Install(nodes.Get(0));
        sources.Start(Seconds(0));
        source_of = DynamicCast<UdpClient>(sources.Get(0));
        UdpServerHelper(9).Install(nodes.Get(1)).Start(Seconds(0));
    }
    Simulator::Stop(Seconds(seconds));
    const clock_t began = clock();
    Simulator::Run();
    const double took = double(clock() - began) / CLOCKS_PER_SEC;
    if (source_of)
        hops = source_of->GetTotalTx() / PAYLOAD;
    printf("%lu %f\n", (unsigned long)hops, took);
    Simulator::Destroy();
}
