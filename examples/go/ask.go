// Asks one question, prints the answer as it is written, then its sources. Run: make languages
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	pb "radrag.example/stubs/radrag/assistant/v1"
)

func main() {
	address := os.Getenv("RADRAG_GATEWAY_ADDRESS")
	if address == "" {
		address = "127.0.0.1:50051"
	}
	// Plaintext is for this machine; a gateway beyond it is called over TLS.
	channel, err := grpc.Dial(address, grpc.WithInsecure())
	if err != nil {
		log.Fatal(err)
	}
	defer channel.Close()
	if err := ask(pb.NewAssistantServiceClient(channel), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func ask(service pb.AssistantServiceClient, question string) error {
	// A call without a deadline may wait for ever; the service stops working when it passes.
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if key := os.Getenv("RADRAG_KEY"); key != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)
	}
	frames, err := service.GenerateStream(ctx, &pb.GenerateStreamRequest{Question: question})
	if err != nil {
		return err
	}
	var sources []*pb.RankedParent
	for {
		frame, err := frames.Recv()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		switch event := frame.Event.(type) {
		case *pb.GenerateStreamResponse_Sources:
			sources = event.Sources.RankedParents
		case *pb.GenerateStreamResponse_Text:
			fmt.Print(event.Text)
		case *pb.GenerateStreamResponse_Finish:
			end(event.Finish, sources)
		}
	}
}

func end(finish *pb.Finish, sources []*pb.RankedParent) {
	fmt.Printf("\n%s: %s\n", finish.Outcome, finish.Reason)
	for _, one := range finish.Citations {
		mark := ""
		if one.Verified {
			mark = " ✓"
		}
		fmt.Printf("[%d] %s: %s%s\n", one.Marker, sources[one.Marker-1].Document.Title, one.Quote, mark)
	}
}
