//go:build linux

package firewall

import (
	"encoding/binary"
	"fmt"

	"github.com/mdlayher/netlink"
	"golang.org/x/sys/unix"
)

// tableOwner is NFT_TABLE_F_OWNER of linux/netfilter/nf_tables.h: the table belongs to the socket that makes it, no other
// socket can change it, and it goes when the socket is closed (since Linux 5.12).
const tableOwner = 2

// makeOwned makes an owned table. The library leaves a table's flags out of what it sends, so this is sent by hand.
func makeOwned(socket *netlink.Conn, name string) error {
	attributes := netlink.NewAttributeEncoder()
	attributes.ByteOrder = binary.BigEndian
	attributes.String(unix.NFTA_TABLE_NAME, name)
	attributes.Uint32(unix.NFTA_TABLE_FLAGS, tableOwner)
	table, err := attributes.Encode()
	if err != nil {
		return err
	}
	sent, err := socket.SendMessages([]netlink.Message{
		{Header: netlink.Header{Type: unix.NFNL_MSG_BATCH_BEGIN, Flags: netlink.Request}, Data: genericHeader(unix.NFPROTO_UNSPEC, unix.NFNL_SUBSYS_NFTABLES)},
		{
			Header: netlink.Header{
				Type:  unix.NFNL_SUBSYS_NFTABLES<<8 | unix.NFT_MSG_NEWTABLE,
				Flags: netlink.Request | netlink.Create | netlink.Excl | netlink.Acknowledge,
			},
			Data: append(genericHeader(unix.NFPROTO_INET, 0), table...),
		},
		{Header: netlink.Header{Type: unix.NFNL_MSG_BATCH_END, Flags: netlink.Request}, Data: genericHeader(unix.NFPROTO_UNSPEC, unix.NFNL_SUBSYS_NFTABLES)},
	})
	if err != nil {
		return err
	}
	answers, err := socket.Receive() // an error in the kernel's answer is returned as one
	if err != nil {
		return err
	}
	for _, answer := range answers {
		if answer.Header.Sequence == sent[1].Header.Sequence {
			return nil
		}
	}
	return fmt.Errorf("the kernel did not acknowledge it")
}

// genericHeader is struct nfgenmsg: family, version 0, resource id in network byte order.
func genericHeader(family uint8, resource uint16) []byte {
	return binary.BigEndian.AppendUint16([]byte{family, 0}, resource)
}
